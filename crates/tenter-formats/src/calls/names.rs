//! Names of calls, and of the types of their elements.

use tenter_workload::graph::CollectiveName;

/// What a name calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    Collective(CollectiveName),
    Send,
    Receive,
    /// It brings nothing to another rank: waits, set-up, marks of groups.
    Nothing,
}

/// What a name calls, whatever separates its words; `None` of names that are no calls.
pub(crate) fn called(name: &str) -> Option<Called> {
    let name = name.rsplit(':').next().unwrap_or_default();
    let letters = name.chars().filter(char::is_ascii_alphabetic);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    let letters = letters.as_str();
    // A name that others contain comes behind them.
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
        _ if letters.contains("sendrecv") => None,
        _ if letters.starts_with("send") || letters == "isend" => Some(Called::Send),
        _ if letters.starts_with("recv") || letters == "irecv" => Some(Called::Receive),
        "wait" | "init" | "epochend" => Some(Called::Nothing),
        _ if letters.contains("coalesc") => Some(Called::Nothing),
        _ => None,
    }
}

/// How many bytes an element has, by the name of its type in `c10`, in C++, or in Python.
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

/// How many bytes an element has, by the number of its type in `nccl.h`.
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
