import { formatTable, replaceControlCharacters } from '../output.ts';
import { type MovedObject, toLabel, toSource } from './apply-plan.ts';
import type { LeftOut, MigrationPlan } from './plan.ts';

/** Table of a migration: served; not served, and why; different in meaning. */
export interface MigrationReport {
  readonly served: readonly ReportRow[];
  readonly notServed: readonly ReasonRow[];
  readonly different: readonly ReasonRow[];
}

interface ReportRow {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly source: string;
}

interface ReasonRow {
  readonly kind: string;
  readonly id: string;
  readonly reason: string;
  readonly source: string;
}

export function createReport({ leftOut }: MigrationPlan, moved: readonly MovedObject[]): MigrationReport {
  const served = moved.filter(({ isServed }) => isServed);
  const notServed = moved.filter(({ isServed }) => !isServed);
  return {
    served: served.map(({ object, state }) => ({ ...toNames(object), state, source: toSource(object) })),
    notServed: [...notServed.map(toReasonRow), ...leftOut.map(toLeftOutRow)],
    different: moved
      .filter(({ state }) => state !== 'refused')
      .flatMap(({ object, warnings }) =>
        [...object.notes, ...warnings].map(reason => ({ ...toNames(object), reason, source: toSource(object) })),
      ),
  };
}

const toNames = (object: MovedObject['object']) => ({ kind: object.kind, id: toLabel(object) });
const toReasonRow = ({ object, state, reason }: MovedObject): ReasonRow => ({
  ...toNames(object),
  reason: state === 'refused' ? `not moved: ${reason}` : reason,
  source: toSource(object),
});
const toLeftOutRow = ({ source, what, reason }: LeftOut): ReasonRow => ({
  kind: what,
  id: '-',
  reason: `not moved: ${reason}`,
  source,
});

export function formatReport({ served, notServed, different }: MigrationReport): string {
  return [
    formatSection('Served', served, {
      KIND: it => it.kind,
      ID: it => it.id,
      RESULT: it => it.state,
      SOURCE: it => it.source,
    }),
    formatReasons('Not served', notServed),
    formatReasons('Different in meaning', different),
  ].join('\n');
}

const formatReasons = (title: string, rows: readonly ReasonRow[]) =>
  formatSection(title, rows, {
    KIND: it => it.kind,
    ID: it => it.id,
    SOURCE: it => it.source,
    REASON: it => it.reason,
  });

function formatSection<Row extends object>(
  title: string,
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
): string {
  const cells = columns as unknown as Parameters<typeof formatTable>[0];
  const table = rows.length === 0 ? 'none\n' : formatTable(cells, rows as never);
  return `${replaceControlCharacters(title)} (${rows.length})\n${table.replaceAll(/^(?=.)/gm, '  ')}`;
}
