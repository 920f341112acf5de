import { z } from 'zod';

/** One member of a wire object: schema, zero value in responses, and description. */
export interface WireMember<Rule extends z.ZodType = z.ZodType> {
  readonly rule: Rule;
  readonly zero: unknown;
  readonly about: string;
}

export type WireMembers = Readonly<Record<string, WireMember>>;

/** An object with every declared member present; undeclared members are preserved. */
export type FullObject<Table extends WireMembers> = {
  [Name in keyof Table]: NonNullable<z.infer<Table[Name]['rule']>>;
} & Record<string, unknown>;

export const wireText = z.string();
export const wireFlag = z.boolean();

/** Bound of numbers: sums with timestamps stay safe integers. */
const maxMagnitude = 1e15;
const tooLargeMessage = `must be at most ${maxMagnitude}`;
const tooSmallMessage = `must be at least -${maxMagnitude}`;
export const wireInt = z.int().min(-maxMagnitude, tooSmallMessage).max(maxMagnitude, tooLargeMessage);
export const wireNumber = z.number().min(-maxMagnitude, tooSmallMessage).max(maxMagnitude, tooLargeMessage);

/** Exports of other gateways hold null for unset lists, maps and objects. */
export const nullableList = <Item extends z.ZodType>(item: Item) => z.array(item).nullable();
export const nullableMap = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value).nullable();
export const nullableObject = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).partial().nullable();

export function wireMember<Rule extends z.ZodType>(
  rule: Rule,
  zero: NonNullable<z.infer<Rule>>,
  about: string,
): WireMember<Rule> {
  return { rule, zero, about };
}

/** Object schema: every member optional, undeclared members preserved. */
export function wireObject<Table extends WireMembers>(table: Table) {
  const shape = Object.fromEntries(
    Object.entries(table).map(([name, { rule, about }]) => [name, rule.optional().describe(about)]),
  );
  return z.looseObject(shape as { [Name in keyof Table]: z.ZodOptional<Table[Name]['rule']> });
}

/** Response form: declared members first, zero where unset, then undeclared members. */
export function fillZeros<Table extends WireMembers>(
  table: Table,
  value: Readonly<Record<string, unknown>>,
): FullObject<Table> {
  const declared = Object.entries(table).map(([name, { zero }]) => [name, value[name] ?? structuredClone(zero)]);
  const undeclared = Object.entries(value).filter(([name]) => !Object.hasOwn(table, name));
  return Object.fromEntries([...declared, ...undeclared]);
}
