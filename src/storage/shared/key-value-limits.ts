export interface KeyValueLimits {
  readonly maxKeysPerOwner: number;
  readonly maxBytesPerOwner: number;
  readonly maxBytes: number;
}

/** Bounds of one owner, in memory and in Redis. */
export const ownerLimits = { maxKeysPerOwner: 10_000, maxBytesPerOwner: 8_388_608 };

/** Memory of an entry beside its texts. */
export const entryBytes = 128;
