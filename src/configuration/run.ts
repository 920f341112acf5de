import { type Actor, hasPermission } from '#operations/actor.ts';
import { type ChangeList, createChangeList } from './change-list.ts';
import { createFaultList, type FaultList } from './faults.ts';
import {
  type ConfigurationServices,
  createRunContext,
  type Kind,
  type PlannedUpdate,
  type PlannedWrite,
  type RunContext,
  type RunOptions,
  type StoredObject,
} from './kind.ts';
import { kinds } from './kinds/kinds.ts';
import { isSameJson } from './member-diff.ts';
import { problem } from './problems.ts';
import type { ConfigurationObject, ConfigurationReport, ConfigurationWrite, KindName } from './schema.ts';
import { orderWrites } from './write-order.ts';

/**
 * Plan and apply. Both check the whole set, then write it in one transaction; a plan rolls it back. What a plan reports
 * is therefore what an apply of the same set would do.
 */

interface Run {
  readonly context: RunContext;
  readonly faults: FaultList;
  readonly given: ReadonlyMap<KindName, ReadonlyMap<string, ConfigurationObject>>;
  readonly prune: ReadonlySet<KindName>;
}

/** Ends the transaction of a plan. */
class RolledBack extends Error {
  readonly changes: ChangeList;

  constructor(changes: ChangeList) {
    super('plan rolled back');
    this.changes = changes;
  }
}

export async function runConfiguration(
  services: ConfigurationServices,
  actor: Actor,
  { objects, prune, ...options }: ConfigurationWrite & RunOptions & { readonly commits: boolean },
): Promise<ConfigurationReport> {
  const faults = createFaultList();
  const given = groupObjects(objects, faults);
  const defersRules = await services.rules.usesAgent(actor.orgId);
  const run: Run = {
    context: createRunContext(services, actor, { ...options, defersRules }),
    faults,
    given,
    prune: new Set(prune),
  };
  requireReadable(run);
  faults.throwIfAny();
  const planned = await checkAll(run);
  faults.throwIfAny();
  const isEmpty = [...planned.values()].every(ids => ids.length === 0);
  const changes = isEmpty ? createChangeList(run.context) : await writeAll(run, planned);
  return changes.report(objects.length);
}

function groupObjects(objects: readonly ConfigurationObject[], faults: FaultList): Run['given'] {
  const given = new Map<KindName, Map<string, ConfigurationObject>>(kinds.map(({ name }) => [name, new Map()]));
  for (const object of objects) {
    const ofKind = given.get(object.kind)!;
    if (ofKind.has(object.id)) faults.add(object, 'id', 'another object of this kind has it');
    ofKind.set(object.id, object);
  }
  return given;
}

const isNamed = ({ given, prune }: Run, { name }: Kind) => given.get(name)!.size > 0 || prune.has(name);

/** Every kind of the set must be readable: without that its objects cannot be compared. */
function requireReadable(run: Run): void {
  for (const kind of kinds.filter(it => isNamed(run, it))) {
    const permission = `${kind.permission}:read`;
    if (hasPermission(run.context.actor, permission)) continue;
    const [object] = run.given.get(kind.name)!.values();
    run.faults.add(object ?? { kind: kind.name, id: '*' }, '', `access denied: you need ${permission}`);
  }
}

interface Comparison {
  readonly kind: Kind;
  readonly writes: readonly PlannedWrite[];
  /** Stored objects that are not in the set. */
  readonly others: readonly StoredObject[];
}

/** Compares the objects of a kind with the stored ones; an object that is equal is neither checked nor written. */
async function compare(run: Run, kind: Kind): Promise<Comparison> {
  const { context, faults } = run;
  const given = run.given.get(kind.name)!;
  const stored = new Map((await kind.list(context)).map(object => [object.id, object]));
  const canWrite = hasPermission(context.actor, `${kind.permission}:write`);
  const writes: PlannedWrite[] = [];
  for (const { id, spec } of given.values()) {
    await context.pace();
    if (faults.isAborted) break;
    const before = stored.get(id);
    if (before && isSameJson(spec, kind.mask(before.spec))) continue;
    if (!canWrite) {
      // Compared without secrets only: whether a sent secret is the stored one is not for readers.
      faults.add({ kind: kind.name, id }, '', `access denied: you need ${kind.permission}:write`);
      continue;
    }
    const object = await faults.attempt({ kind: kind.name, id }, () =>
      kind.check(context, { id, given: spec, before }),
    );
    if (object && !(before && isSameJson(object.spec, before.spec))) writes.push({ object, before });
  }
  return { kind, writes, others: [...stored.values()].filter(({ id }) => !given.has(id)) };
}

/** Ids of the objects to write or delete. */
type PlannedIds = ReadonlyMap<KindName, readonly string[]>;

/** Checks the whole set before anything is locked. */
async function checkAll(run: Run): Promise<PlannedIds> {
  const { context, faults } = run;
  const planned = new Map<KindName, readonly string[]>();
  for (const kind of kinds.filter(it => isNamed(run, it))) {
    const { writes, others } = await compare(run, kind);
    const removed = run.prune.has(kind.name) ? others.map(({ id }) => id) : [];
    planned.set(kind.name, [...writes.map(({ object }) => object.id), ...removed]);
    const created = writes.filter(({ before }) => !before).map(({ object }) => object);
    // Not for a set that is refused already.
    if (faults.isEmpty) await faults.attempt({ kind: kind.name, id: '*' }, () => kind.prepare?.(context, created));
  }
  return planned;
}

/** Transactions of one run: one more after each evaluation of rules outside of it. */
const maxTransactions = 3;

async function writeAll(run: Run, planned: PlannedIds): Promise<ChangeList> {
  const { commits, rules, pace } = run.context;
  for (let count = 1; count <= maxTransactions; count++) {
    const changes = await writeOnce(run, planned);
    if (!rules.hasPending) return changes;
    await rules.evaluatePending(run.faults, pace);
    run.faults.throwIfAny();
    if (!commits) return changes;
  }
  throw problem.run_outdated();
}

/** One transaction; rolled back for a plan, and where rules are still to be evaluated. */
async function writeOnce(run: Run, planned: PlannedIds): Promise<ChangeList> {
  const { services, commits, rules, checkBeforeCommit } = run.context;
  const { records, apis, users } = services;
  try {
    return await records.write(async () => {
      // Lock order of every run; single operations take one of the two.
      await apis.lockForWrite();
      return users.runExclusive(async () => {
        const changes = await writeInTransaction(run, planned);
        if (!commits || rules.hasPending) throw new RolledBack(changes);
        await checkBeforeCommit();
        return changes;
      });
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.changes;
    throw error;
  }
}

/** Kinds whose objects are deleted last: members of a group leave it before, and users are never without a group. */
const removedLast: ReadonlySet<KindName> = new Set(['user', 'group']);

async function writeInTransaction(run: Run, planned: PlannedIds): Promise<ChangeList> {
  const { context, faults } = run;
  const changes = createChangeList(context);
  await changes.countKeys({ apiIds: planned.get('api') ?? [], policyIds: planned.get('policy') ?? [] });
  context.forgetUsers();
  const backwards = [...kinds].reverse();
  for (const kind of backwards.filter(({ name }) => !removedLast.has(name))) await removeOthers(run, kind, changes);
  for (const kind of kinds) {
    if (faults.isAborted) break;
    // Deletions may change objects that were equal before: an API leaves policies and versions.
    const isPlanned = run.prune.size > 0 || (planned.get(kind.name) ?? []).length > 0;
    if (isPlanned && run.given.get(kind.name)!.size > 0) await writeKind(run, kind, changes);
    if (kind.name === 'user') context.forgetUsers();
  }
  for (const kind of backwards.filter(({ name }) => removedLast.has(name))) await removeOthers(run, kind, changes);
  faults.throwIfAny();
  return changes;
}

async function writeKind(run: Run, kind: Kind, changes: ChangeList): Promise<void> {
  const { context, faults } = run;
  const { writes } = await compare(run, kind);
  await kind.release?.(context, writes.filter(isUpdate));
  for (const { object, before } of orderWrites(kind, writes)) {
    if (faults.isAborted) return;
    await context.pace();
    context.rules.startObject({ kind: kind.name, id: object.id });
    await faults.attempt({ kind: kind.name, id: object.id }, async () => {
      await (before ? kind.update(context, object, before) : kind.create(context, object));
      changes.add(kind, object, before);
    });
  }
}

const isUpdate = (write: PlannedWrite): write is PlannedUpdate => write.before !== undefined;

async function removeOthers(run: Run, kind: Kind, changes: ChangeList): Promise<void> {
  const { context, faults } = run;
  if (!run.prune.has(kind.name) || faults.isAborted) return;
  const given = run.given.get(kind.name)!;
  for (const stored of await kind.list(context)) {
    if (given.has(stored.id)) continue;
    if (faults.isAborted) return;
    await context.pace();
    if (kind.isKept?.(context, stored)) {
      context.notices.add(`${kind.name} ${stored.id}: is the caller, and stays`);
      continue;
    }
    context.rules.startObject({ kind: kind.name, id: stored.id });
    await faults.attempt({ kind: kind.name, id: stored.id }, async () => {
      await kind.remove(context, stored);
      changes.add(kind, undefined, stored);
    });
  }
}
