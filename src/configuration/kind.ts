import { setImmediate } from 'node:timers/promises';
import type { CertificateServices } from '#access/certificates/operations.ts';
import type { KeyStore } from '#access/keys/store.ts';
import type { PolicyServices } from '#access/policies/operations.ts';
import type { ApiServices } from '#apis/api/changes.ts';
import type { AssetStore } from '#apis/assets/store.ts';
import type { HookServices } from '#events/hooks/operations.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { checkBody } from '#operations/body-members.ts';
import type { RefuseDependents } from '#operations/dependents.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { problem as operationProblem } from '#operations/problems.ts';
import type { GroupServices } from '#people/groups/operations.ts';
import type { UserServices } from '#people/users/operations.ts';
import type { StoredUser } from '#people/users/schema.ts';
import { wholeList } from '#storage/collection.ts';
import { problem } from './problems.ts';
import { type ConfigurationRules, createRuleRequests, type RuleRequests } from './rule-requests.ts';
import type { KindName, Spec } from './schema.ts';

/** Services of a plan or apply: those of the single operations of every kind. */
export interface ConfigurationServices
  extends ApiServices,
    Omit<PolicyServices, 'ownership'>,
    CertificateServices,
    Omit<HookServices, 'addressPolicies'>,
    Omit<UserServices, 'ownership'>,
    Omit<GroupServices, 'organisations'> {
  assets: AssetStore;
  keys: KeyStore;
  refuseDependents: RefuseDependents;
  rules: ConfigurationRules;
}

/** One run: its actor, and notices that its report lists. */
export interface RunContext {
  readonly services: ConfigurationServices;
  readonly actor: Actor;
  readonly notices: Set<string>;
  /** Hashes of the passwords of new users, by the id of the object; empty in a plan. */
  readonly passwordHashes: Map<string, string>;
  /** False in a plan, which is rolled back. */
  readonly commits: boolean;
  /** Deletes in spite of dependents, as the `force` of single deletes. */
  readonly force: boolean | undefined;
  /** Requests to the rules of the organisation. */
  readonly rules: RuleRequests;
  /**
   * Awaited before each object: ends a run that is overdue, or whose client has closed the connection, and gives other
   * work a turn of the event loop.
   */
  pace(): Promise<void>;
  /** Awaited before the commit: the same, after a turn of the event loop. */
  checkBeforeCommit(): Promise<void>;
  /** Users of the organisation, read once until `forgetUsers`. */
  readUsers(): Promise<readonly StoredUser[]>;
  forgetUsers(): void;
}

/** Objects between two turns of the event loop. */
const objectsPerTurn = 50;

export interface RunOptions {
  readonly commits?: boolean;
  readonly force?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** True when the client of the run has closed its connection. */
  readonly isClientGone?: (() => boolean) | undefined;
  /** Collects requests to the rules of the organisation, for `evaluatePending`. */
  readonly defersRules?: boolean;
}

export function createRunContext(
  services: ConfigurationServices,
  actor: Actor,
  { commits = false, force, timeoutMs = Number.POSITIVE_INFINITY, isClientGone, defersRules }: RunOptions = {},
): RunContext {
  const deadlineMs = services.clock.now() + timeoutMs;
  let objects = 0;
  let users: Promise<readonly StoredUser[]> | undefined;
  const read = async () => (await services.users.page(actor.orgId, wholeList)).items;
  const ensureWanted = () => {
    if (services.clock.now() > deadlineMs) throw problem.run_timed_out({ detail: { seconds: timeoutMs / 1000 } });
    if (isClientGone?.()) throw problem.run_abandoned();
  };
  return {
    services,
    actor,
    notices: new Set(),
    passwordHashes: new Map(),
    commits,
    force,
    rules: createRuleRequests(services.rules, actor, defersRules),
    async pace() {
      ensureWanted();
      if (++objects % objectsPerTurn === 0) await setImmediate();
    },
    async checkBeforeCommit() {
      await setImmediate();
      ensureWanted();
    },
    readUsers() {
      users ??= read();
      return users;
    },
    forgetUsers() {
      users = undefined;
    },
  };
}

/** A stored object. `spec` has secrets in plain text, and leaves this module masked only. */
export interface StoredObject {
  readonly id: string;
  readonly spec: Spec;
  /** The record behind it. */
  readonly source: unknown;
}

/** A sent object after its check. */
export interface CheckedObject {
  readonly id: string;
  /** In the form of a stored spec, with stored secrets in place of masks. */
  readonly spec: Spec;
  /** As sent. */
  readonly given: Spec;
  /** Result of the check that the write needs again. */
  readonly checked?: unknown;
}

/** An object to create, or to update where it is stored. */
export interface PlannedWrite {
  readonly object: CheckedObject;
  readonly before: StoredObject | undefined;
}

export type PlannedUpdate = PlannedWrite & { readonly before: StoredObject };

export type CheckInput = Pick<CheckedObject, 'id' | 'given'> & { readonly before: StoredObject | undefined };

/**
 * One kind of object. Writes go through the single operations of the kind, or through the functions behind them, so that
 * the rules, permissions and ownership checks are the same.
 */
export interface Kind {
  readonly name: KindName;
  /** Permission that its single operations require, without the level. */
  readonly permission: string;
  /** Objects that the actor may see, in the order of their ids. */
  list(context: RunContext): Promise<StoredObject[]>;
  /** At most `size` of them after an id; for kinds of which there may be many. */
  listAfter?(context: RunContext, after: string, size: number): Promise<StoredObject[]>;
  /** Throws every fault with its path below `spec`. */
  check(context: RunContext, input: CheckInput): CheckedObject | Promise<CheckedObject>;
  /** Slow work for the objects that a run creates, before anything is locked. */
  prepare?(context: RunContext, created: readonly CheckedObject[]): Promise<void>;
  /**
   * Frees unique names and routes that updates of the run leave, in its transaction and before its writes: an update can
   * take what another one leaves, in a cycle too.
   */
  release?(context: RunContext, updates: readonly PlannedUpdate[]): Promise<void>;
  /** Copy with a mask in place of each secret. */
  mask(spec: Spec): Spec;
  create(context: RunContext, object: CheckedObject): Promise<void>;
  update(context: RunContext, object: CheckedObject, before: StoredObject): Promise<void>;
  remove(context: RunContext, before: StoredObject): Promise<void>;
  /** True for an object that prune leaves in place. */
  isKept?(context: RunContext, before: StoredObject): boolean;
}

export const withoutMask = (spec: Spec): Spec => spec;

interface OperationInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const ignore = () => undefined;

/** Calls a single operation as its route would: permission, members of the body, rules of the organisation, handler. */
export async function callOperation(
  context: RunContext,
  operation: AnyOperation,
  { params = {}, body }: OperationInput,
): Promise<void> {
  const { services, actor } = context;
  await authorize(context, operation, { params, body });
  const checked = checkOperationBody(context, operation, body);
  const call = {
    params,
    query: { force: context.force },
    body: checked?.body,
    actor,
    address: '',
    isSecure: true,
    identify: ignore,
    audit: ignore,
    auditEach: ignore,
    header: ignore,
    requestHeader: ignore,
  };
  await operation.handle(call as never, services as never);
}

export const checkOperationBody = (context: RunContext, operation: AnyOperation, body: unknown) =>
  operation.body && checkBody({ ...operation, body: operation.body }, body, readUnknownMembers(context));

/** Requires the permission of a single operation, and that the rules of the organisation allow it. */
export async function authorize(
  { actor, rules }: RunContext,
  { name, method, path, permission }: AnyOperation,
  { params = {}, body }: OperationInput,
): Promise<void> {
  if (!hasPermission(actor, permission)) throw operationProblem.not_permitted({ detail: { permission } });
  const filled = path.replaceAll(/\{([\w-]+)\}/g, (_whole, member: string) => encodeURIComponent(params[member] ?? ''));
  await rules.enforce({ operation: name, method, path: filled, query: {}, body });
}

const readUnknownMembers = ({ services }: RunContext) => services.settings['management.unknown_members'];

/** Checks members of a spec against its schema; unknown ones are refused, or dropped with a notice, by the setting. */
export function checkSpec<S extends AnyOperation['body'] & {}>(
  context: RunContext,
  schema: S,
  { id, given }: Pick<CheckInput, 'id' | 'given'>,
) {
  const { body, warnings } = checkBody({ body: schema }, given, readUnknownMembers(context));
  for (const warning of warnings) context.notices.add(`${id}: ${warning}`);
  return body as S['_zod']['output'];
}
