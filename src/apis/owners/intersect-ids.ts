/** Ids of both lists; an absent list has all. */
export function intersectIds(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!one || !other) return one ?? other;
  const wanted = new Set(other);
  return one.filter(id => wanted.has(id));
}
