/** Names that were dropped and whose answers may still be on their way. */
const mostDropped = 10_000;

/**
 * Remembers, by number, when names were dropped, so that no answer that was asked for before is kept after it, and nobody
 * who asks after it is given one.
 */
export function dropLog(most = mostDropped) {
  const dropped = new Map<string, number>();
  let last = 0;
  /** What became of names dropped up to this number is no longer known. */
  let forgotten = 0;

  return {
    add(key: string): void {
      dropped.delete(key);
      dropped.set(key, ++last);
      for (const [oldest, number] of dropped) {
        if (dropped.size <= most) break;
        dropped.delete(oldest);
        forgotten = number;
      }
    },
    /** How many were dropped so far. */
    seen: (): number => last,
    /** Whether the name was dropped since so many were; in doubt it was. */
    isDroppedSince: (key: string, seen: number): boolean => seen < forgotten || seen < (dropped.get(key) ?? 0),
    /** Another one after each time the name is dropped. */
    turnOf: (key: string): number => dropped.get(key) ?? 0,
  };
}
