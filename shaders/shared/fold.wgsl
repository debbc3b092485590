// Launches count work groups flat. A count above the device's limit per dimension is folded into y and z; the groups
// that rounding up adds lie at the end, so a kernel drops every index beyond its own count.
fn flat_group(id: vec3<u32>, count: vec3<u32>) -> u32 {
    return (id.z * count.y + id.y) * count.x + id.x;
}
