// Kernels that are wrong, each in one way.
#include "../../block.cuh"

struct wrongArgs {
  Ptr Memory;
  u64 Bytes;
};

KERNEL(wrong_branch, wrongArgs, 64, 64) {
  if (thread() % 2) {
    ballot(true);
  } else {
    ballot(false);
  }
}

KERNEL(wrong_lane, wrongArgs, 64, 64) {
  if (thread() != 40) sync_warp();
}

KERNEL(wrong_barrier, wrongArgs, 64, 64) {
  if (warp() == 0) sync_block();
}

KERNEL(wrong_barriers, wrongArgs, 64, 64) {
  if (warp() == 0) {
    sync_block();
  } else {
    sync_block();
  }
}

KERNEL(wrong_address, wrongArgs, 64, 64) {
  if (block() == 1 && thread() == 3) at<u8>(a.Memory)[a.Bytes] = 1;
}

KERNEL(wrong_alignment, wrongArgs, 64, 64) {
  if (block() == 1 && thread() == 3) at<u64>(a.Memory + 4)[0] = 1;
}

KERNEL(wrong_index, wrongArgs, 64, 64) {
  SHARED(u32, words, 64);
  words[thread() + a.Bytes / 4096] = 1;
}

KERNEL(wrong_race_words, wrongArgs, 64, 64) {
  SHARED(u32, words, 64);
  words[thread()] = thread();
  at<u32>(a.Memory)[(block() * 64 + thread()) % (a.Bytes / 4)] = words[63 - thread()];
}

KERNEL(wrong_race_blocks, wrongArgs, 64, 64) {
  if (thread() == 0) at<u32>(a.Memory)[0] = 1;
}

// The flag says that the word is there, and orders nothing.
KERNEL(wrong_race_flag, wrongArgs, 64, 64) {
  u32 *memory = at<u32>(a.Memory);
  if (thread() != 0) return;
  if (atomic_add(&memory[1], 1) == 0) {
    memory[0] = 1;
    st_relaxed(&memory[2], 1);
  } else if (ld_relaxed(&memory[2]) == 1) {
    at<u32>(a.Memory)[2 + block()] = memory[0];
  }
}

// As it should be: what no check has to say anything about.
KERNEL(right_order, wrongArgs, 64, 64) {
  SHARED(u32, words, 64);
  u32 *memory = at<u32>(a.Memory);
  words[thread()] = thread();
  sync_block();
  const u32 w = words[63 - thread()];
  sync_block();
  words[thread()] = shfl(w, 0);
  if (thread() != 0) return;
  if (atomic_add(&memory[1], 1) == 0) {
    memory[0] = 1;
    st_release(&memory[2], 1);
  } else if (ld_acquire(&memory[2]) == 1) {
    memory[2 + block()] = memory[0];
  }
}

// A block that waits for a later one, which may never be running.
KERNEL(wrong_order, wrongArgs, 64, 64) {
  u32 *flag = at<u32>(a.Memory);
  if (block() + 1 < blocks()) {
    while (ld_acquire(&flag[block() + 1]) != 1) nap();
  }
  if (thread() == 0) st_release(&flag[block()], 1);
}

// What nobody wrote is not zero.
KERNEL(wrong_read, wrongArgs, 64, 64) {
  SHARED(u8, bytes, 64);
  at<u8>(a.Memory)[thread()] = bytes[thread()];
}
