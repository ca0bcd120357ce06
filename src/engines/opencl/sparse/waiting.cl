// Work-groups that wait for each other, for levels.cl and solve.cl: each takes tickets, and waits only for the work of earlier ones.
// `words` is shared by all work-groups of a kernel; words.ts has their indices.

// Called after each look that found nothing. Whether to stop waiting: after `limit` looks, or when another work-item has stopped.
bool isAbandoned(int *spins, int limit, volatile __global int *words) {
  bool enough = ++*spins > limit;
  if (enough) words[FAILED] = 1;
  return enough || ((*spins & 1023) == 0 && words[FAILED] != 0);
}

// Do `work` for the tickets k < n. A work-group takes consecutive tickets, one for each work-item, until there are no more or a wait
// was abandoned.
#define FOR_EACH_TICKET(k, n, work) \
  __local int ticket; \
  int id = (int)get_local_id(0), size = (int)get_local_size(0); \
  for (;;) { \
    if (id == 0) ticket = words[FAILED] ? n : atomic_add(words + TICKET, size); \
    barrier(CLK_LOCAL_MEM_FENCE); \
    int start = ticket, k = start + id; \
    barrier(CLK_LOCAL_MEM_FENCE); \
    if (start >= n) break; \
    if (k < n) work; \
  }
