// Parts of a common reference: the channels a reference is taken from and those it is subtracted from. Listed parts name
// places in the list of channels, others name a run of channels.
const LISTED: u32 = 0u; // dspk:specialise 0 1

struct Part {
    source: u32,
    sources: u32,
    member: u32,
    members: u32,
}

fn channel(place: u32) -> u32 {
    if (LISTED == 1u) {
        return list[place];
    }
    return place;
}
