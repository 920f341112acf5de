import { type CallBatch, type CallRecord, numberColumns, numberIndex, wordColumns, wordIndex } from './batch.ts';
import { minuteMs } from './usage-rows.ts';

/** Columns that, with API, status and minute, determine the dimensions of a usage row. */
const dimensionColumns = (
  [
    'version',
    'keyHash',
    'oauthId',
    'path',
    'method',
    'country',
    'userAgent',
    'refusal',
    'mcpMethod',
    'mcpPrimitiveType',
    'mcpPrimitiveName',
    'tags',
  ] as const
).map(column => wordIndex[column]);

const slots = 1024;

/**
 * Direct-mapped cache from the dimensions of a call to a value, for the calls of one batch: words of a batch are
 * interned, so that indices are compared instead of texts. A miss is always possible and costs a lookup by name.
 */
export function createCallGroups<Value>() {
  const rowBySlot = new Int32Array(slots);
  const valueBySlot: (Value | undefined)[] = new Array(slots).fill(undefined);
  let current: CallBatch | undefined;

  function findSlot({ batch: { numbers, places }, row }: CallRecord): number {
    let hash = numbers[row * numberColumns.length + numberIndex.api]! * 31;
    hash += numbers[row * numberColumns.length + numberIndex.status]!;
    for (const column of dimensionColumns)
      hash = (Math.imul(hash, 31) + places[row * wordColumns.length + column]!) | 0;
    return (hash ^ (hash >>> 10)) & (slots - 1);
  }

  return {
    find(record: CallRecord): Value | undefined {
      if (record.batch !== current) return undefined;
      const slot = findSlot(record);
      const value = valueBySlot[slot];
      return value !== undefined && isSameGroup(record.batch, record.row, rowBySlot[slot]!) ? value : undefined;
    },
    set(record: CallRecord, value: Value): void {
      if (record.batch !== current) valueBySlot.fill(undefined);
      current = record.batch;
      const slot = findSlot(record);
      rowBySlot[slot] = record.row;
      valueBySlot[slot] = value;
    },
    clear(): void {
      valueBySlot.fill(undefined);
      current = undefined;
    },
  };
}

function isSameGroup({ numbers, places }: CallBatch, one: number, other: number): boolean {
  const [a, b] = [one * numberColumns.length, other * numberColumns.length];
  if (numbers[a + numberIndex.api] !== numbers[b + numberIndex.api]) return false;
  if (numbers[a + numberIndex.status] !== numbers[b + numberIndex.status]) return false;
  const { atMs } = numberIndex;
  if (Math.floor(numbers[a + atMs]! / minuteMs) !== Math.floor(numbers[b + atMs]! / minuteMs)) return false;
  for (const column of dimensionColumns)
    if (places[one * wordColumns.length + column] !== places[other * wordColumns.length + column]) return false;
  return true;
}
