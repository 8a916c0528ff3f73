//! Steps of a thread block.

use tenter_workload::collective::{Buffer, Port, ProgramStep, Slot, StepName};

use super::element::{Element, Read};

/// The GPUs to which a thread block sends and from which it receives, on its channel.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    send: Option<Port>,
    receive: Option<Port>,
}

impl Ends {
    pub(super) fn of(tb: &Element<'_, '_>) -> Read<Ends> {
        let channel = tb.number("chan")?;
        let port = |peer| Port { peer, channel };
        Ok(Ends {
            send: tb.number_or_none("send")?.map(port),
            receive: tb.number_or_none("recv")?.map(port),
        })
    }
}

/// Parts that make up a step type.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a part that a step may lack"
)]
struct Does {
    receives: bool,
    /// Reads its source: adds it to the received data, or sends or stores it.
    reads: bool,
    /// Adds the content of the target to the stored data.
    adds: bool,
    stores: bool,
    sends: bool,
}

/// Returns the parts of a step type. The letters stand for receive, reduce, copy and send, in this
/// order: `rrcs` does all four.
fn does(kind: &str) -> Option<Does> {
    let of = |receives, reads, adds, stores, sends| Does {
        receives,
        reads,
        adds,
        stores,
        sends,
    };
    Some(match kind {
        "nop" => of(false, false, false, false, false),
        "s" => of(false, true, false, false, true),
        "r" => of(true, false, false, true, false),
        "cpy" => of(false, true, false, true, false),
        "re" => of(false, true, true, true, false),
        "rcs" => of(true, false, false, true, true),
        "rrs" => of(true, true, false, false, true),
        "rrc" => of(true, true, false, true, false),
        "rrcs" => of(true, true, false, true, true),
        _ => return None,
    })
}

/// Reads a step; `place` is its number in its block.
pub(super) fn step(element: &Element<'_, '_>, ends: Ends, place: usize) -> Read<ProgramStep> {
    let kind = element.text("type")?;
    let Some(does) = does(kind) else {
        let what = format!("a step is of type `{kind}`");
        let remedy = "write s, r, cpy, re, rcs, rrs, rrc, rrcs or nop";
        return Err(element.wrong(what, remedy));
    };
    // The older dialect has `<op step="0">`.
    let key = if element.name() == "op" { "step" } else { "s" };
    let number: usize = element.number(key)?;
    if number != place {
        let what = format!("`{key}` is {number}, and the step is number {place} of its `tb`");
        return Err(element.wrong(what, "number the steps from 0 in their order"));
    }
    let mut step = ProgramStep::default();
    if let Some(block) = element.number_or_none("depid")? {
        let step_of = element.number("deps")?;
        step.after.push(StepName {
            block,
            step: step_of,
        });
    }
    if kind == "nop" {
        return Ok(step);
    }
    step.count = element.number("cnt")?;
    if step.count == 0 {
        let what = "it moves no chunk: `cnt` is 0";
        return Err(element.wrong(what, "write how many chunks it moves"));
    }
    let end = |is_used: bool, port: Option<Port>, word: &str| match (is_used, port) {
        (true, None) => {
            let what = format!("a step of type `{kind}` stands in a `tb` whose `{word}` is −1");
            Err(element.wrong(what, &format!("name a GPU as `{word}`")))
        }
        (is_used, port) => Ok(port.filter(|_| is_used)),
    };
    step.receive = end(does.receives, ends.receive, "recv")?;
    step.send = end(does.sends, ends.send, "send")?;
    if does.reads {
        step.sources.push(slot(element, "srcbuf", "srcoff")?);
    }
    if does.stores {
        let store = slot(element, "dstbuf", "dstoff")?;
        // `re` adds the source to what the target has.
        if does.adds {
            step.sources.push(store);
        }
        step.store = Some(store);
    }
    Ok(step)
}

fn slot(element: &Element<'_, '_>, buffer: &str, offset: &str) -> Read<Slot> {
    let letter = element.text(buffer)?;
    let Some(buffer) = Buffer::of_letter(letter) else {
        let what = format!("`{buffer}` is `{letter}`");
        return Err(element.wrong(what, "write `i`, `o` or `s`"));
    };
    Ok(Slot::new(buffer, element.number(offset)?))
}
