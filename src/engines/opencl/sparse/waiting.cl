// Work-groups that wait for each other: each takes a ticket, and waits only for what earlier ones do.
#define TICKET 0 // of `words`: the next one
#define FAILED 2 // waiting was given up

// What was done before is seen by other work-groups before what follows.
#ifdef NVIDIA
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

// Another look has found nothing. Whether to go on looking: one gives up after `limit` looks, and when another has.
bool isGivenUp(int *spins, int limit, volatile __global int *words) {
  bool enough = ++*spins > limit;
  if (enough) words[FAILED] = 1;
  return enough || ((*spins & 1023) == 0 && words[FAILED] != 0);
}
