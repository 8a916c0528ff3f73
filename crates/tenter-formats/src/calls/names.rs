//! Names for calls and element types.

use tenter_workload::graph::CollectiveName;

/// A call's meaning, as its name tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    Collective(CollectiveName),
    Send,
    Receive,
    /// A call that moves no data between ranks: waits, set-up, marks around groups.
    Nothing,
}

/// Returns a name's meaning, regardless of the separators between its words; `None` if it names no
/// call.
pub(crate) fn called(name: &str) -> Option<Called> {
    // `nccl:all_reduce` has the backend in front.
    let name = name.rsplit(':').next().unwrap_or_default();
    // Versions write `allgather_into_tensor_coalesced`, `_allgather_base` or `AllGather`: letters
    // alone make them alike.
    let letters = name.chars().filter(char::is_ascii_alphabetic);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    let letters = letters.as_str();
    // The first match counts, so a name that is part of another one comes behind it.
    let collectives = [
        ("allreduce", CollectiveName::AllReduce),
        ("reducescatter", CollectiveName::ReduceScatter),
        ("allgather", CollectiveName::AllGather),
        ("alltoall", CollectiveName::AllToAll),
        ("broadcast", CollectiveName::Broadcast),
        ("barrier", CollectiveName::Barrier),
        ("reduce", CollectiveName::Reduce),
        ("gather", CollectiveName::Gather),
        ("scatter", CollectiveName::Scatter),
    ];
    let found = collectives
        .into_iter()
        .find(|(part, _)| letters.contains(part));
    if let Some((_, name)) = found {
        return Some(Called::Collective(name));
    }
    match letters {
        // The name of NCCL's kernel for messages does not say which of the two it does.
        _ if letters.contains("sendrecv") => None,
        _ if letters.starts_with("send") || letters == "isend" => Some(Called::Send),
        _ if letters.starts_with("recv") || letters == "irecv" => Some(Called::Receive),
        "wait" | "init" | "epochend" => Some(Called::Nothing),
        _ if letters.contains("coalesc") => Some(Called::Nothing),
        _ => None,
    }
}

/// Returns the bytes per element, by the type's name in `c10`, C++ or Python.
pub(crate) fn element_bytes(name: &str) -> Option<u64> {
    let plain = name.rsplit([':', '.']).next().unwrap_or_default().trim();
    let plain = plain.trim_end_matches('*').to_ascii_lowercase();
    Some(match plain.as_str() {
        "float" | "float32" | "int" | "int32" | "unsigned int" | "uint32" | "complexhalf" => 4,
        "half" | "float16" | "bfloat16" | "short" | "int16" | "uint16" => 2,
        "double" | "float64" | "long" | "long int" | "int64" | "uint64" | "complexfloat" => 8,
        "byte" | "char" | "bool" | "signed char" | "unsigned char" | "int8" | "uint8" => 1,
        "complexdouble" => 16,
        _ if plain.starts_with("float8") => 1,
        _ => return None,
    })
}

/// Returns the bytes per element, by the type's number in `nccl.h`.
pub(crate) fn nccl_element_bytes(number: u64) -> Option<u64> {
    // Int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16, two float8.
    const BYTES: [u64; 12] = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1];
    BYTES.get(usize::try_from(number).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_dialects_are_known() {
        use CollectiveName as Name;
        for (name, of) in [
            ("allreduce", Called::Collective(Name::AllReduce)),
            ("nccl:all_reduce", Called::Collective(Name::AllReduce)),
            ("AllReduce", Called::Collective(Name::AllReduce)),
            ("_allgather_base", Called::Collective(Name::AllGather)),
            (
                "all_gather_into_tensor_coalesced",
                Called::Collective(Name::AllGather),
            ),
            (
                "_reduce_scatter_base",
                Called::Collective(Name::ReduceScatter),
            ),
            ("all_to_allv", Called::Collective(Name::AllToAll)),
            ("AlltoAll", Called::Collective(Name::AllToAll)),
            ("_broadcast_oop", Called::Collective(Name::Broadcast)),
            ("reduce", Called::Collective(Name::Reduce)),
            ("Gather", Called::Collective(Name::Gather)),
            ("scatter", Called::Collective(Name::Scatter)),
            ("barrier", Called::Collective(Name::Barrier)),
            ("nccl:send 0->1", Called::Send),
            ("nccl:recv 0<-1", Called::Receive),
            ("irecv", Called::Receive),
            ("wait", Called::Nothing),
            ("nccl:coalesced", Called::Nothing),
        ] {
            assert_eq!(called(name), Some(of), "{name}");
        }
        assert_eq!(called("aten::add"), None);
        assert_eq!(called("ncclKernel_SendRecv_RING"), None);
    }

    #[test]
    fn elements_have_their_sizes() {
        for (name, bytes) in [
            ("Float", 4),
            ("c10::BFloat16", 2),
            ("torch.float16", 2),
            ("Long", 8),
            ("long int", 8),
            ("unsigned char", 1),
            ("Float8_e4m3fn", 1),
        ] {
            assert_eq!(element_bytes(name), Some(bytes), "{name}");
        }
        assert_eq!(element_bytes("Tensor"), None);
        assert_eq!(nccl_element_bytes(9), Some(2));
        assert_eq!(nccl_element_bytes(12), None);
    }
}
