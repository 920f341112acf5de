import type { ConcernedObjects } from '#access/keys/search-store.ts';
import type { CheckedObject, Kind, RunContext, StoredObject } from './kind.ts';
import { summarizeSpec } from './kinds/api-summary.ts';
import { diffMembers } from './member-diff.ts';
import type { Change, ConfigurationReport, ListenPathChange, Spec } from './schema.ts';

/** Differing members that one change lists, and all changes together. */
const maxMembersPerChange = 100;
const maxMembers = 20_000;
const maxRoutes = 1000;
const maxNotices = 1000;

/** Records the changes of a run for its report, without secrets. */
export function createChangeList(context: RunContext) {
  const changes: Change[] = [];
  const routes: ListenPathChange[] = [];
  const apis = new Set<string>();
  const policies = new Set<string>();
  let members = 0;
  let moreRoutes = 0;
  let keys = 0;

  function addUpdate(kind: Kind, { id, spec }: CheckedObject, before: StoredObject): void {
    const limit = Math.min(maxMembersPerChange, maxMembers - members);
    const diff = diffMembers(toPair(kind, before.spec), toPair(kind, spec), limit);
    members += diff.members.length;
    const more = diff.more > 0 ? { more_members: diff.more } : {};
    changes.push({ kind: kind.name, id, action: 'update', members: diff.members, ...more });
  }

  function addRoute(api: string, before: Spec | undefined, after: Spec | undefined): void {
    const [left, right] = [before && readRoute(before), after && readRoute(after)];
    if (left?.domain === right?.domain && left?.listen_path === right?.listen_path) return;
    if (routes.length >= maxRoutes) moreRoutes++;
    else routes.push({ api, ...(left && { before: left }), ...(right && { after: right }) });
  }

  return {
    add(kind: Kind, object: CheckedObject | undefined, before: StoredObject | undefined): void {
      const id = (object ?? before)!.id;
      if (object && before) addUpdate(kind, object, before);
      else changes.push({ kind: kind.name, id, action: object ? 'create' : 'delete' });
      if (kind.name === 'policy') policies.add(id);
      if (kind.name !== 'api') return;
      apis.add(id);
      addRoute(id, before?.spec, object?.spec);
    },
    /** Counts the keys that planned changes concern; before they are written, since deletions remove grants. */
    async countKeys(concerned: ConcernedObjects): Promise<void> {
      keys = await context.services.keys.countConcerned(context.actor.orgId, concerned);
    },
    report(given: number): ConfigurationReport {
      const written = changes.filter(({ action }) => action !== 'delete').length;
      const more = moreRoutes > 0 ? { more_routes: moreRoutes } : {};
      return {
        changes,
        unchanged: given - written,
        traffic: { routes, ...more, apis: apis.size, policies: [...policies], keys },
        notices: [...context.notices].slice(0, maxNotices),
      };
    },
  };
}

export type ChangeList = ReturnType<typeof createChangeList>;

const toPair = (kind: Kind, spec: Spec) => ({ plain: spec, masked: kind.mask(spec) });

/** Route of an API; undefined where it has none. */
function readRoute(spec: Spec) {
  const { domain, listen_path } = summarizeSpec(spec);
  return listen_path === '' ? undefined : { domain, listen_path };
}
