//! `tenter lab plan` and `tenter lab collect`: repeat a study on hardware.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::server::report_of_studies;
use tenter::StudyRun;
use tenter::report::{Measured, MeasuredRow, TextColumn, TextTable, write_whole};
use tenter::studies::{AnswerVariant, Answers, CaseAnswer, Gate, StudyAnswer, Value, Verdict};
use tenter_endpoint::congestion_control::CongestionControl;
use tenter_language::units::Bytes;
use tenter_sim::plan::Plan;

use crate::command::arguments::LabCollect;
use crate::command::exit::ExitCode;
use crate::command::failure::{Failure, print, print_tables, say};
use crate::command::{measured, study};

/// Programs in nccl-tests by a scenario's collective names.
const PROGRAMS: [(&str, &str); 7] = [
    ("all-reduce", "all_reduce_perf"),
    ("all-to-all", "alltoall_perf"),
    ("all-gather", "all_gather_perf"),
    ("reduce-scatter", "reduce_scatter_perf"),
    ("broadcast", "broadcast_perf"),
    ("reduce", "reduce_perf"),
    ("gather", "gather_perf"),
];

/// Variant name for the rows measured on hardware.
const HARDWARE: &str = "hardware";

/// Prints the steps to repeat a study on hardware.
pub(crate) fn plan(name: &str) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for run in study::read(&[name.to_owned()])? {
        steps(&run, &mut text)?;
    }
    print(&text);
    Ok(ExitCode::SUCCESS)
}

fn steps(run: &StudyRun, text: &mut String) -> Result<(), Failure> {
    let keys = &run.study.sweep.keys;
    let plans = run.run(None).first_plans()?;
    let _ = writeln!(
        text,
        "{}: {}\nsource: {}\n",
        keys.name, keys.title, keys.source
    );
    let Some(first) = plans.first() else {
        return Ok(());
    };
    let plan = first.resolved();
    let _ = writeln!(
        text,
        "1. Hosts: {} NICs on {} switches, as `tenter explain` lists them; clocks by PTP or NTP.",
        plan.topology.hosts,
        plan.topology.switches()
    );
    switches(plan, text);
    nics(plan, text);
    let _ = writeln!(text, "4. Run, and keep what each prints:");
    let mut seen = BTreeSet::new();
    for plan in &plans {
        for command in commands(plan.resolved()) {
            // Cases often differ in a setting of the fabric alone.
            if seen.insert(command.clone()) {
                let _ = writeln!(text, "   {command}");
            }
        }
    }
    let _ = writeln!(
        text,
        "5. Collect before and after each run: on hosts `ethtool -S DEVICE` and `/sys/class/infiniband/*/ports/1/hw_counters`; \
         on switches `show interfaces counters`, `show queue counters`, `show pfc counters`, `show priority-group watermark shared`, \
         `show queue watermark unicast`.\n\
         6. Bring the logs together: `tenter lab collect {} LOG…` puts them beside the simulated and published values.\n",
        keys.name
    );
    Ok(())
}

/// Writes the switch settings as commands of `SONiC`.
fn switches(plan: &Plan, text: &mut String) {
    let _ = writeln!(text, "2. Switches (SONiC), in every one:");
    let spec = &plan.switches.usual;
    let mut any = false;
    for class in &spec.classes {
        if class.lossless.is_some() {
            any = true;
            let _ = writeln!(
                text,
                "   sudo config interface pfc priority ETHERNET {} on",
                class.class
            );
        }
        if let Some(ecn) = &class.ecn {
            any = true;
            let _ = writeln!(text, "   class {} marks: {ecn:?}", class.class);
            let _ = writeln!(
                text,
                "   sudo ecnconfig -p PROFILE -gmin KMIN -gmax KMAX -gdrop PMAX, with these numbers in bytes and percent"
            );
        }
    }
    if !any {
        let _ = writeln!(text, "   no PFC and no ECN: the scenario has neither");
    }
    let _ = writeln!(
        text,
        "   ECMP over addresses and UDP ports: `show ecmp`-like output of the platform must name the source port"
    );
}

fn nics(plan: &Plan, text: &mut String) {
    let nic = &plan.nic;
    let dscp: BTreeSet<u8> = plan.addresses.iter().map(|address| address.dscp).collect();
    let dscp: Vec<String> = dscp.iter().map(u8::to_string).collect();
    let _ = writeln!(
        text,
        "3. NICs: path MTU {} B (`ibv_devinfo`), DSCP {} (`cma_roce_tos`, NCCL_IB_TC = 4 × DSCP), congestion control {}.",
        nic.mtu_bytes,
        dscp.join(", "),
        nic.congestion_control
            .as_ref()
            .map_or("off", CongestionControl::word),
    );
}

/// Returns the command lines for a trial's jobs.
fn commands(plan: &Plan) -> Vec<String> {
    let mut commands = Vec::new();
    for job in &plan.jobs {
        let sizes = job
            .sequence
            .iter()
            .map(|run| (run.traffic.name(), run.size_bytes));
        let sizes: Vec<(&str, u64)> = sizes.collect();
        // Neighbouring runs of one collective are one command: nccl-tests scans sizes by itself.
        let mut at = 0;
        while let Some(&(collective, least)) = sizes.get(at) {
            let same = sizes[at..]
                .iter()
                .take_while(|(other, _)| *other == collective);
            let count = same.count();
            let greatest = sizes[at + count - 1].1;
            at += count;
            commands.push(command(job, collective, least, greatest, plan));
        }
    }
    commands
}

fn command(
    job: &tenter_workload::Job,
    collective: &str,
    least: u64,
    greatest: u64,
    plan: &Plan,
) -> String {
    let known = PROGRAMS.iter().find(|(name, _)| *name == collective);
    let Some((_, program)) = known else {
        return format!(
            "ib_write_bw -d DEVICE -q {} -s {greatest} -m {} -F --report_gbits --out_json --out_json_file={}.json SERVER   # {collective}: between each pair that sends",
            job.queue_pairs, plan.nic.mtu_bytes, job.name
        );
    };
    let range = if least == greatest {
        format!("-b {least} -e {least}")
    } else {
        format!("-b {least} -e {greatest} -f 2")
    };
    format!(
        "mpirun -np {} --map-by ppr:1:node -x NCCL_IB_QPS_PER_CONNECTION={} -x NCCL_IB_SPLIT_DATA_ON_QPS=1 {program} {range} -g 1 -n {} -w {} -J {}-{collective}.json",
        job.ranks(),
        job.queue_pairs,
        // Hardware varies from iteration to iteration, so it runs more of them.
        job.iterations.max(20),
        job.warm_up.max(5),
        job.name,
    )
}

/// Compares logs with a study's simulated and published values.
pub(crate) fn collect(arguments: &LabCollect) -> Result<ExitCode, Failure> {
    let logs = measured::read(&arguments.logs)?;
    let studies = study::read(std::slice::from_ref(&arguments.study))?;
    let [study] = studies.as_slice() else {
        return Err(Failure::input(format!(
            "`{}` is a group of studies; name one of them",
            arguments.study
        )));
    };
    // The quick form, if there is one, takes less time to simulate.
    let mut study = study.clone();
    if study.study.sweep.has_quick() {
        study.study.sweep = study.study.sweep.quick();
    }
    let run = study.run(None).workers(1);
    let mut terminal =
        crate::command::sweep::Terminal::of(crate::command::progress::on_interrupt());
    let results = run.run_with(&mut terminal)?;
    if results.was_cancelled {
        return Ok(ExitCode::INTERRUPTED);
    }
    let mut answer = results.answer;
    let found = add_hardware(&mut answer, &logs);
    if found == 0 {
        return Err(Failure::input(
            "no size of these logs is one of the study: `tenter lab plan` prints the commands with its sizes",
        ));
    }
    print_tables(&beside(&answer));
    let answers = Answers {
        studies: vec![answer],
    };
    let page = report_of_studies(&answers, &[Vec::new()]);
    write_whole(&arguments.output, &page.text).map_err(|error| Failure::of_trial(&error))?;
    say(&format!(
        "{found} values of hardware; page {}\n",
        arguments.output.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{number:.4}"),
        Value::Text(text) => text.clone(),
    }
}

/// Formats a table with measured, simulated and published values for each case that a log covers.
fn beside(answer: &StudyAnswer) -> String {
    let variants = answer.variants.iter().filter(|of| of.name != HARDWARE);
    let variants: Vec<&str> = variants.map(|of| of.name.as_str()).collect();
    let mut columns = vec![TextColumn::name("case"), TextColumn::name("metric")];
    columns.push(TextColumn::number("published", ""));
    columns.extend(variants.iter().map(|name| TextColumn::number(name, "")));
    columns.push(TextColumn::number(HARDWARE, ""));
    columns.extend([TextColumn::number("band", ""), TextColumn::name("verdict")]);
    let mut table = TextTable::new(columns);
    for case in answer.cases.iter().filter(|case| case.variant == HARDWARE) {
        let value = |of: Option<&Value>| of.map(shown).unwrap_or_default();
        let mut row = vec![
            case.case.clone(),
            case.metric.clone(),
            value(case.published.as_ref()),
        ];
        for variant in &variants {
            let mut others = answer.cases.iter();
            let other = others.find(|other| {
                other.variant == *variant
                    && (&other.case, &other.metric) == (&case.case, &case.metric)
            });
            row.push(value(other.and_then(|other| other.measured.as_ref())));
        }
        let band = case.band.map(|[low, high]| format!("{low}–{high}"));
        row.push(value(case.measured.as_ref()));
        row.extend([band.unwrap_or_default(), case.verdict.word().to_owned()]);
        table.push(row);
    }
    format!("{}: {}\n{table}", answer.study, answer.title)
}

/// Adds a hardware row for each case that a log covers, and returns their number.
fn add_hardware(answer: &mut StudyAnswer, logs: &[Measured]) -> usize {
    let mut seen = BTreeSet::new();
    let mut rows: Vec<CaseAnswer> = Vec::new();
    for case in &answer.cases {
        // A case has one row per variant; hardware has one per case.
        if !seen.insert((case.metric.clone(), case.case.clone())) {
            continue;
        }
        let Some(value) = value_of(case, logs) else {
            continue;
        };
        // Hardware is held to the band of the row that is judged.
        let same = |of: &&CaseAnswer| (&of.metric, &of.case) == (&case.metric, &case.case);
        let mut judged = answer.cases.iter().filter(same);
        let case = judged.find(|of| of.gate != Gate::Info).unwrap_or(case);
        rows.push(CaseAnswer {
            variant: HARDWARE.to_owned(),
            measured: Some(Value::Number(value)),
            statistic: None,
            spread: None,
            verdict: Verdict::of(case.gate, case.band, Some(value)),
            ..case.clone()
        });
    }
    let count = rows.len();
    answer.cases.extend(rows);
    answer.variants.push(AnswerVariant {
        name: HARDWARE.to_owned(),
        about: "measured on hardware, from logs".to_owned(),
        trials: logs.len(),
        ..AnswerVariant::default()
    });
    count
}

/// Finds a case's value in the logs, in its metric's unit.
fn value_of(case: &CaseAnswer, logs: &[Measured]) -> Option<f64> {
    let size: Bytes = case.case.parse().ok()?;
    let rows = logs.iter().flat_map(|log| &log.rows);
    let mut same = rows.filter(|row| row.size_bytes == size.count());
    let mut of = |value: fn(&MeasuredRow) -> Option<f64>| same.find_map(value);
    match case.metric.as_str() {
        "completion_time_ms" => of(|row| row.time_us).map(|us| us / 1e3),
        "time_us" => of(|row| row.time_us),
        "busbw_gbytes_per_s" => of(|row| row.busbw),
        _ => None,
    }
}
