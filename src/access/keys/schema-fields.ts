import { z } from 'zod';

/** One member of a wire object: what it may hold, what a reader sees when nobody set it, and what it means. */
export interface WireMember<Rule extends z.ZodType = z.ZodType> {
  readonly rule: Rule;
  readonly zero: unknown;
  readonly about: string;
}

export type WireMembers = Readonly<Record<string, WireMember>>;

/** A value with every member of its table present; members nobody declared are kept. */
export type FullObject<Table extends WireMembers> = {
  [Name in keyof Table]: NonNullable<z.infer<Table[Name]['rule']>>;
} & Record<string, unknown>;

export const textRule = z.string();
export const flagRule = z.boolean();

/** Seconds are added to the time of day and amounts to each other: the sum must still be a number one can count with. */
const maxMagnitude = 1e15;
const tooLargeMessage = `must be at most ${maxMagnitude}`;
const tooSmallMessage = `must be at least -${maxMagnitude}`;
export const intRule = z.int().min(-maxMagnitude, tooSmallMessage).max(maxMagnitude, tooLargeMessage);
export const numberRule = z.number().min(-maxMagnitude, tooSmallMessage).max(maxMagnitude, tooLargeMessage);

/** Files written by other gateways hold null where a list, a map or an object was never set. */
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

/** The rule of the whole object: every member optional, members nobody declared kept. */
export function objectRule<Table extends WireMembers>(table: Table) {
  const shape = Object.fromEntries(
    Object.entries(table).map(([name, { rule, about }]) => [name, rule.optional().describe(about)]),
  );
  return z.looseObject(shape as { [Name in keyof Table]: z.ZodOptional<Table[Name]['rule']> });
}

/** The object as a reader sees it: declared members first, the unset ones at their zero, then the undeclared. */
export function fillZeros<Table extends WireMembers>(
  table: Table,
  value: Readonly<Record<string, unknown>>,
): FullObject<Table> {
  const declared = Object.entries(table).map(([name, { zero }]) => [name, value[name] ?? structuredClone(zero)]);
  const undeclared = Object.entries(value).filter(([name]) => !Object.hasOwn(table, name));
  return Object.fromEntries([...declared, ...undeclared]);
}
