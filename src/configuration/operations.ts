import { z } from 'zod';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as operationProblem } from '#operations/problems.ts';
import { toStatus } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import { exportConfiguration } from './export.ts';
import type { ConfigurationServices } from './kind.ts';
import { kinds } from './kinds/kinds.ts';
import { problem } from './problems.ts';
import { runConfiguration } from './run.ts';
import { ConfigurationReport, ConfigurationWrite, ExportedObject, type KindName, kindNames } from './schema.ts';

const declared = { surface: 'dashboard', noun: 'configuration', permission: 'any user' } as const;

const maxPageSize = 2000;

const bulkPermissions = kinds.map(({ permission }) => `${permission}:write`);

const kindList = z
  .string()
  .max(200)
  .transform(text => text.split(',').map(name => name.trim()))
  .pipe(z.array(z.enum(kindNames)).min(1))
  .optional();

const exportQuery = z.object({
  kinds: kindList.describe('Kinds, separated by commas; all that the caller may read if omitted'),
  after: z.string().max(300).default('').describe('The next of an earlier response'),
  size: z.coerce.number().int().min(1).max(maxPageSize).default(500).describe('Most objects of one response'),
});

export const getConfiguration = operation({
  ...declared,
  name: 'getConfiguration',
  method: 'GET',
  path: '/api/configuration',
  about:
    'Exports the configuration of the caller’s organisation, page by page, without secrets: groups, users, webhooks, certificates, templates, APIs and policies that the caller may read.',
  query: exportQuery,
  returns: z.object({
    objects: z.array(ExportedObject),
    kinds: z.array(z.enum(kindNames)).describe('Kinds of the export, those without objects included'),
    next: z.string().optional().describe('Absent in the last response'),
    warnings: z.array(z.string()).optional(),
  }),
  problems: [operationProblem.not_permitted, problem.cursor_invalid],
  async handle({ actor, query: { kinds: named, after, size } }, services: ConfigurationServices) {
    requireNamedReadable(actor, named);
    const page = await exportConfiguration(services, actor, { kinds: named, after, size });
    const { objects, kinds: exported, next } = page;
    return { objects, kinds: exported, ...(next !== undefined && { next }) };
  },
});

function requireNamedReadable(actor: Actor, named: readonly KindName[] = []): void {
  for (const { name, permission } of kinds)
    if (named.includes(name) && !hasPermission(actor, `${permission}:read`))
      throw operationProblem.not_permitted({ detail: { permission: `${permission}:read` } });
}

const example = {
  objects: [
    {
      kind: 'policy' as const,
      id: 'gold',
      spec: { name: 'Gold', rate: 100, per: 60, state: 'active' },
    },
  ],
};

const reportResponse = z.object({ Status: z.string(), Message: z.string(), Meta: ConfigurationReport });

const runProblems = [
  problem.objects_invalid,
  problem.run_in_progress,
  problem.run_timed_out,
  problem.run_abandoned,
  operationProblem.too_many_bodies,
];

/** Organisations with a run, by database. */
const running = new WeakMap<Records, Set<string>>();
/** Runs of a process: each holds its objects in memory. */
const maxRuns = 4;
/** A run holds the write lock. `gw apply` waits longer, and `gw diff` longer than the setting for plans allows. */
const applyTimeoutMs = 240_000;

/** One run at a time for each organisation. */
async function runAlone<T>({ records }: ConfigurationServices, { orgId }: Actor, work: () => Promise<T>): Promise<T> {
  const organisations = running.get(records) ?? new Set();
  running.set(records, organisations);
  if (organisations.has(orgId) || organisations.size >= maxRuns) throw problem.run_in_progress();
  organisations.add(orgId);
  try {
    return await work();
  } finally {
    organisations.delete(orgId);
  }
}

export const planConfiguration = operation({
  ...declared,
  name: 'planConfiguration',
  changesNothing: true,
  method: 'POST',
  path: '/api/configuration/plan',
  about:
    'Reports what apply would do with the same body: objects created, updated and deleted, with the members that differ and the effect on live traffic. Changes nothing.',
  body: ConfigurationWrite,
  example,
  isBulk: true,
  bulkPermissions,
  returns: reportResponse,
  problems: runProblems,
  async handle({ actor, body, isClientGone }, services: ConfigurationServices) {
    const timeoutMs = services.settings['management.plan_timeout_seconds'] * 1000;
    const limits = { commits: false, timeoutMs, isClientGone };
    const report = await runAlone(services, actor, () => runConfiguration(services, actor, { ...body, ...limits }));
    return { ...toStatus('Configuration planned'), Meta: report };
  },
});

/** Objects that one audit record names; an apply of more has several records. */
const maxObjectsPerRecord = 20;

function toAuditObjects({ changes }: ConfigurationReport): string[] {
  const names = changes.map(({ kind, id, action }) => `${action} ${kind} ${id}`);
  const records = Math.ceil(names.length / maxObjectsPerRecord);
  return Array.from({ length: records }, (_none, at) =>
    names.slice(at * maxObjectsPerRecord, (at + 1) * maxObjectsPerRecord).join(', '),
  );
}

export const applyConfiguration = operation({
  ...declared,
  name: 'applyConfiguration',
  method: 'POST',
  changesTraffic: true,
  path: '/api/configuration/apply',
  about:
    'Creates, replaces and, for the kinds in prune, deletes objects in one transaction, by the rules and permissions of the single operations. One fault, and nothing is changed.',
  body: ConfigurationWrite,
  example,
  isBulk: true,
  bulkPermissions,
  returns: reportResponse,
  problems: [...runProblems, problem.run_outdated],
  async handle({ actor, body, auditEach, isClientGone }, services: ConfigurationServices) {
    const limits = { commits: true, timeoutMs: applyTimeoutMs, isClientGone };
    const report = await runAlone(services, actor, () => runConfiguration(services, actor, { ...body, ...limits }));
    auditEach(toAuditObjects(report));
    return { ...toStatus('Configuration applied'), Meta: report };
  },
});

export const configurationOperations = [getConfiguration, planConfiguration, applyConfiguration];
