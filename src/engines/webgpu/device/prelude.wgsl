// What every program begins with. A launch of more than 65535 groups has several rows of groups: this is the place of a group among all.
// The last row may have more groups than were asked for.
fn groupIndex(id: vec3<u32>, count: vec3<u32>) -> u32 {
  return id.y * count.x + id.x;
}
