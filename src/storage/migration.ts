import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** One schema migration. Migrations are numbered by their position in the list and never change once released. */
export interface Migration {
  readonly name: string;
  up(schema: Schema): Promise<void>;
}

export interface Schema {
  readonly db: Kysely<Tables>;
  /** Text type with bytewise collation on both engines. */
  readonly text: string;
  /** Auto-increment primary key: column type and constraint. */
  readonly serial: string;
  run(sql: string): Promise<void>;
}

/** Creates `table` from engine-independent column types. */
export async function createTable(schema: Schema, table: string, columns: Record<string, string>, ...rest: string[]) {
  const lines = Object.entries(columns).map(([name, type]) => `${name} ${toColumnType(schema, type)}`);
  await schema.run(`create table ${table} (${[...lines, ...rest].join(', ')})`);
}

function toColumnType(schema: Schema, type: string): string {
  const [head, ...tail] = type.split(' ');
  const columnTypes: Record<string, string> = {
    text: schema.text,
    serial: schema.serial,
    number: 'bigint',
    truth: 'integer',
  };
  return [columnTypes[head!] ?? head, ...tail].join(' ');
}

export const createIndex = (schema: Schema, table: string, name: string, columns: string, unique = false) =>
  schema.run(`create ${unique ? 'unique ' : ''}index ${table}_${name} on ${table} (${columns})`);
