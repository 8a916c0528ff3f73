//! The lists of the pages on models and studies are what the program has.

use serde_json::Value;

use crate::workplace::Workplace;

const MODELS: &str = include_str!("../../../../docs/models.md");
const STUDIES: &str = include_str!("../../../../docs/studies.md");

/// The words in the typeface of code of the item or the table that `title` begins on a page, in
/// order; what has a space in it is no word.
fn listed(page: &str, title: &str) -> Vec<String> {
    let begin = page.find(title);
    let begin = begin.unwrap_or_else(|| panic!("the page has no {title:?}"));
    let text = &page[begin + title.len()..];
    let end = ["\n- **", "\n\n"].iter().filter_map(|end| text.find(end));
    let text = &text[..end.min().unwrap_or(text.len())];
    let quoted = text.split('`').skip(1).step_by(2);
    sorted(quoted.filter(|word| !word.contains(' ')))
}

fn sorted<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words
}

/// The words that a place of the schema allows: alternatives of a mapping by the key that tells
/// them apart, or words.
fn allowed(schema: &Value, place: &str) -> Vec<String> {
    let place = schema.pointer(place);
    let place = place.expect("the schema has this place");
    let alternatives = place.as_array().expect("it has alternatives");
    let word = |alternative: &'_ Value| -> Option<String> {
        let kinds = ["kind", "collective"].into_iter();
        let mut kinds = kinds.filter_map(|key| alternative["properties"][key]["const"].as_str());
        alternative
            .as_str()
            .or_else(|| kinds.next())
            .map(str::to_owned)
    };
    let words: Vec<String> = alternatives.iter().filter_map(word).collect();
    assert_eq!(
        words.len(),
        alternatives.len(),
        "each alternative has a word"
    );
    sorted(words.iter().map(String::as_str))
}

/// The subcommands that a help lists.
fn commands(workplace: &Workplace, command: &str) -> Vec<String> {
    let help = workplace
        .words(&format!("{command} --help"))
        .expect(0)
        .stdout;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // What a line goes on with stands further in.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    sorted(names.filter(|name| !name.is_empty() && *name != "help"))
}

#[test]
fn the_page_of_models_lists_what_scenarios_may_say() {
    let workplace = Workplace::new("lists-schema");
    let schema = workplace.words("schema").expect(0).json();
    let nic = "/properties/endpoint/properties/nic/properties";
    let ultra_ethernet = format!("{nic}/transport/anyOf/1/properties/congestion_control/anyOf/0");
    let job = "/properties/jobs/items/properties";
    let lists = [
        (
            "- **Levels**",
            "/properties/engine/properties/fidelity/enum".to_owned(),
        ),
        ("- **Topologies**", "/properties/fabric/oneOf".to_owned()),
        ("- **Switches**", "/$defs/switching/oneOf".to_owned()),
        (
            "- **Load balancing**",
            "/$defs/load_balancing/oneOf".to_owned(),
        ),
        ("- **Transports**", format!("{nic}/transport/anyOf/0/enum")),
        (
            "- **Congestion control of RoCE**",
            format!("{nic}/congestion_control/anyOf/0/anyOf/0/enum"),
        ),
        (
            "- **Congestion control of Ultra Ethernet**",
            format!("{ultra_ethernet}/enum"),
        ),
        (
            "- **Loss recovery**",
            format!("{nic}/loss_recovery/anyOf/0/enum"),
        ),
        (
            "- **Collectives**",
            format!("{job}/collectives/items/oneOf"),
        ),
        (
            "- **Patterns of parallel applications**",
            format!("{job}/pattern/oneOf"),
        ),
    ];
    for (title, place) in lists {
        assert_eq!(listed(MODELS, title), allowed(&schema, &place), "{title}");
    }
    let mut workloads = listed(MODELS, "- **Workloads**");
    workloads.extend(listed(MODELS, "- **Workloads of others**"));
    workloads.sort();
    assert_eq!(
        workloads,
        allowed(&schema, &format!("{job}/workload/oneOf"))
    );
}

#[test]
fn the_pages_list_what_commands_take() {
    let workplace = Workplace::new("lists-commands");
    let mut imported = listed(MODELS, "- **Workloads of others**");
    imported.extend(listed(
        MODELS,
        "- **Fabrics, servers and switches of others**",
    ));
    // Reads what another of them has written.
    imported.push("graph".to_owned());
    imported.sort();
    assert_eq!(imported, commands(&workplace, "import"));
    assert_eq!(
        listed(MODELS, "- **Written for others**"),
        commands(&workplace, "export")
    );
    let studies = workplace.words("study list").expect(0).stdout;
    let folders = studies
        .lines()
        .filter_map(|line| Some(line.split_once('/')?.0));
    let folders = sorted(folders.filter(|folder| !folder.contains(' ')));
    assert_eq!(listed(STUDIES, "| studies |"), folders);
}
