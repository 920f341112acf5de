import { type CliEnvironment, formatCommandHelp, parseCommand } from '../command.ts';
import { resolveConnection } from '../connection.ts';
import { createControlClient } from '../control.ts';
import { migrateFlags } from '../flags.ts';
import { formatJson } from '../output.ts';
import { problem } from '../problems.ts';
import { createSurfaceClient } from '../surface-client.ts';
import { applyPlan, type MigrationTarget, type OrganisationClient, toLabel, toSource } from './apply-plan.ts';
import type { MigrationPlan } from './plan.ts';
import { createReport, formatReport } from './report.ts';

/** `gw migrate-from`: moves the configuration of another product, through the control API of a running gateway. */

const kind = 'migrate-from';

/** Products, each with the reader of its files. Readers are loaded on use. */
const readers: Readonly<Record<string, (path: string) => Promise<MigrationPlan>>> = {
  tyk: async path => (await import('./tyk.ts')).readTykExports(path),
  kong: async path => (await import('./kong.ts')).readKongConfig(path),
  krakend: async path => (await import('./krakend.ts')).readKrakendConfig(path),
  nginx: async path => (await import('./nginx.ts')).readNginxConfig(path),
};

const help = () =>
  formatCommandHelp({
    name: kind,
    about: 'moves APIs, policies, keys, OAuth clients and certificates of another product',
    usage: [[`migrate-from ${Object.keys(readers).join('|')} PATH`, 'moves a directory of exports, or one file']],
    flags: migrateFlags,
  });

export async function runMigrateCommand(args: readonly string[], cli: CliEnvironment): Promise<void> {
  const { positionals, values } = parseCommand(kind, migrateFlags, args);
  const [product, path, ...more] = positionals;
  if (values.help || product === undefined) return cli.print(help());
  const read = Object.hasOwn(readers, product) ? readers[product] : undefined;
  if (!read)
    throw problem.unknown_action({ detail: { kind, action: product, known: Object.keys(readers).join(', ') } });
  if (path === undefined || more.length > 0)
    throw problem.usage({ detail: { reason: `${product} needs a directory or a file`, kind } });
  if (values.output !== undefined && values.output !== 'json')
    throw problem.usage({ detail: { reason: '-o takes json', kind } });
  const plan = await read(path);
  const isJson = values.output === 'json';
  if (values['dry-run']) {
    cli.print(isJson ? formatJson(toPreview(plan)) : formatPreview(plan));
    return checkCount(plan.leftOut.length);
  }
  const moved = await applyPlan(plan, openTarget(values, cli));
  const report = createReport(plan, moved);
  cli.print(isJson ? formatJson(report) : formatReport(report));
  checkCount(report.notServed.length);
}

/** Ends the command with status 1 where the second table has rows. */
function checkCount(count: number): void {
  if (count > 0) throw problem.partly_migrated({ detail: { count } });
}

type Flags = ReturnType<typeof parseCommand<typeof migrateFlags>>['values'];

/** Lenient handling: members that this product does not have are warnings, not refusals. */
const lenientHeaders = { prefer: 'handling=lenient' };

function openTarget(flags: Flags, { environment }: CliEnvironment): MigrationTarget {
  const call = createControlClient({ ...resolveConnection('gateway', flags, environment), headers: lenientHeaders });
  const { secret: _gatewaySecret, ...adminFlags } = flags;
  const admin = resolveConnection('admin', adminFlags, environment);
  const callAdmin: OrganisationClient | undefined =
    admin.secret === '' ? undefined : createSurfaceClient('admin', admin);
  return { call, callAdmin, orgId: flags.org };
}

/** Objects that a run would write, without their content. */
const toPreview = ({ objects, leftOut }: MigrationPlan) => ({
  objects: objects.map(object => ({
    kind: object.kind,
    id: toLabel(object),
    source: toSource(object),
    notes: object.notes,
  })),
  leftOut,
});

const formatPreview = (plan: MigrationPlan) =>
  formatReport(
    createReport(
      plan,
      plan.objects.map(object => ({ object, state: 'added', reason: '', isServed: true, warnings: [] })),
    ),
  ).replace(/^Served/, 'To be moved');
