import { z } from 'zod';

/** One member of a wire object: what it may hold, what a reader sees when nobody set it, and what it means. */
export interface Member<Rule extends z.ZodType = z.ZodType> {
  readonly rule: Rule;
  readonly zero: unknown;
  readonly about: string;
}

export type Members = Readonly<Record<string, Member>>;

/** A value with every member of its table present; members nobody declared are kept. */
export type Full<Table extends Members> = {
  [Name in keyof Table]: NonNullable<z.infer<Table[Name]['rule']>>;
} & Record<string, unknown>;

export const text = z.string();
export const flag = z.boolean();

/** Seconds are added to the time of day and amounts to each other: the sum must still be a number one can count with. */
const largest = 1e15;
const most = `must be at most ${largest}`;
const least = `must be at least -${largest}`;
export const whole = z.int().min(-largest, least).max(largest, most);
export const amount = z.number().min(-largest, least).max(largest, most);

/** Files written by other gateways hold null where a list, a map or an object was never set. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).nullable();
export const mapOf = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value).nullable();
export const objectOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).partial().nullable();

export function member<Rule extends z.ZodType>(
  rule: Rule,
  zero: NonNullable<z.infer<Rule>>,
  about: string,
): Member<Rule> {
  return { rule, zero, about };
}

/** The rule of the whole object: every member optional, members nobody declared kept. */
export function objectRule<Table extends Members>(table: Table) {
  const shape = Object.fromEntries(
    Object.entries(table).map(([name, { rule, about }]) => [name, rule.optional().describe(about)]),
  );
  return z.looseObject(shape as { [Name in keyof Table]: z.ZodOptional<Table[Name]['rule']> });
}

/** The object as a reader sees it: declared members first, the unset ones at their zero, then the undeclared. */
export function filled<Table extends Members>(table: Table, value: Readonly<Record<string, unknown>>): Full<Table> {
  const declared = Object.entries(table).map(([name, { zero }]) => [name, value[name] ?? structuredClone(zero)]);
  const undeclared = Object.entries(value).filter(([name]) => !Object.hasOwn(table, name));
  return Object.fromEntries([...declared, ...undeclared]);
}
