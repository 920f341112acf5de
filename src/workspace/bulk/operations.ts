import { z } from 'zod';
import { KeyChanges } from '#access/keys/key-changes.ts';
import { hasPermission } from '#operations/actor.ts';
import { type ForwardRequest, operation } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { type BulkAction, type BulkKind, bulkActions, findBulkAction } from './actions.ts';

const maxBulkIds = 500;
/** As of a path parameter. */
const maxIdCharacters = 1024;

const kinds = Object.keys(bulkActions) as [BulkKind, ...BulkKind[]];
const actionNames = [...new Set(Object.values(bulkActions).flatMap(actions => Object.keys(actions)))].sort();

/** Dot segments would change the path of the request (RFC 3986, 5.2.4). */
const isDotSegment = (id: string) => id === '.' || id === '..';

const bulkBody = z
  .object({
    kind: z.enum(kinds),
    action: z.enum(actionNames as [string, ...string[]]),
    ids: z
      .array(
        z
          .string()
          .min(1)
          .max(maxIdCharacters)
          .refine(id => !isDotSegment(id), 'is not an id'),
      )
      .min(1)
      .max(maxBulkIds)
      .refine(ids => new Set(ids).size === ids.length, 'has duplicates')
      .describe('Ids as the operation on one object accepts them'),
    changes: KeyChanges.optional().describe('Changes of every key, for the action change'),
  })
  .superRefine(({ kind, action, changes }, context) => {
    const found = findBulkAction(kind, action);
    const refuse = (member: string, message: string) => context.addIssue({ code: 'custom', path: [member], message });
    if (!found) {
      const names = Object.keys(bulkActions[kind]).join(' or ');
      refuse('action', `${kind} have no action ${action}: it must be ${names}`);
    } else if (found.hasChanges && !changes) refuse('changes', `the action ${action} requires changes`);
    else if (!found.hasChanges && changes) refuse('changes', `the action ${action} has no changes`);
  });

const bulkOutcome = z.object({
  id: z.string(),
  status: z.int().describe('Status of the operation on this object'),
  message: z.string(),
});
type BulkOutcome = z.output<typeof bulkOutcome>;

const toPath = ({ operation: { path }, query }: BulkAction, id: string) =>
  path.replace(/\{[\w-]+\}/, encodeURIComponent(id)) + (query ? `?${query}` : '');

/** Message of either spelling that responses of the dashboard have. */
function readMessage(body: unknown): string {
  const { Message, message = Message } = (body ?? {}) as { Message?: unknown; message?: unknown };
  return typeof message === 'string' ? message : '';
}

const unauthorizedStatus = 401;

/** One request after the other: each is a write, and the database has one writer. */
async function runEach(
  forward: ForwardRequest,
  action: BulkAction,
  ids: readonly string[],
  changes: KeyChanges | undefined,
): Promise<BulkOutcome[]> {
  const results: BulkOutcome[] = [];
  for (const id of ids) {
    const last = results.at(-1);
    // The caller has ended its own access; further requests would count as failed authentications.
    if (last?.status === unauthorizedStatus) {
      results.push({ ...last, id });
      continue;
    }
    const { status, body } = await forward(action.operation.method, toPath(action, id), changes);
    results.push({ id, status, message: readMessage(body) });
  }
  return results;
}

export const runBulk = operation({
  surface: 'dashboard',
  noun: 'bulk',
  name: 'runBulk',
  method: 'POST',
  changesTraffic: true,
  path: '/api/bulk',
  about:
    'Runs the same operation on many objects, each by itself: permission, checks, audit record and events are those of the operation on one object. A failure does not stop the others.',
  permission: 'any user',
  body: bulkBody,
  example: { kind: 'apis', action: 'deactivate', ids: ['b84fe1a04e5648927971c0557971565c'] },
  returns: z.object({ succeeded: z.int(), failed: z.int(), results: z.array(bulkOutcome) }),
  problems: [refusal.not_permitted],
  async handle({ actor, body: { kind, action: name, ids, changes }, forward, audit }) {
    audit(`${kind} ${name}`);
    const action = findBulkAction(kind, name)!;
    const { permission } = action.operation;
    if (!hasPermission(actor, permission)) throw refusal.not_permitted({ detail: { permission } });
    const results = await runEach(forward, action, ids, changes);
    const succeeded = results.filter(({ status }) => status < 300).length;
    return { succeeded, failed: results.length - succeeded, results };
  },
});

export const bulkOperations = [runBulk];
