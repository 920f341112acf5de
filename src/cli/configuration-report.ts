import { replaceControlCharacters } from './output.ts';

/** Report of a plan or apply, as the operation returns it. */
export interface Report {
  readonly changes: readonly {
    readonly kind: string;
    readonly id: string;
    readonly action: 'create' | 'update' | 'delete';
    readonly members?: readonly MemberChange[] | undefined;
    readonly more_members?: number | undefined;
  }[];
  readonly unchanged: number;
  readonly traffic: {
    readonly routes: readonly RouteChange[];
    readonly more_routes?: number | undefined;
    readonly apis: number;
    readonly policies: readonly string[];
    readonly keys: number;
  };
  readonly notices: readonly string[];
}

interface MemberChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly is_secret?: true | undefined;
}

interface Route {
  readonly domain: string;
  readonly listen_path: string;
}

interface RouteChange {
  readonly api: string;
  readonly before?: Route | undefined;
  readonly after?: Route | undefined;
}

const colours = { create: 32, update: 33, delete: 31 } as const;
const signs = { create: '+', update: '~', delete: '-' } as const;

type Paint = (action: keyof typeof colours, text: string) => string;

/** Escape sequences of a terminal (ECMA-48); plain text elsewhere. */
export const createPaint =
  (isColoured: boolean): Paint =>
  (action, text) =>
    isColoured ? `\u001b[${colours[action]}m${text}\u001b[0m` : text;

export const emptyReport: Report = {
  changes: [],
  unchanged: 0,
  traffic: { routes: [], apis: 0, policies: [], keys: 0 },
  notices: [],
};

/** Readable report: a line for each object, and one for each member that differs. */
export function formatChangeReport(
  { changes, unchanged, traffic, notices }: Report,
  paint: Paint,
  isApplied: boolean,
): string {
  const lines = changes.flatMap(({ kind, id, action, members = [], more_members: more = 0 }) => [
    paint(action, clean(`${signs[action]} ${action} ${kind} ${id}`)),
    ...members.flatMap(member => formatMember(member, paint)),
    ...(more > 0 ? [`    and ${more} more members`] : []),
  ]);
  if (changes.length > 0) lines.push(...formatTraffic(traffic, paint));
  for (const notice of notices) lines.push(clean(`notice: ${notice}`));
  const count = (action: keyof typeof signs) => changes.filter(change => change.action === action).length;
  const counts = (['create', 'update', 'delete'] as const).map(
    action => `${count(action)} ${isApplied ? `${action}d` : `to ${action}`}`,
  );
  return `${[...lines, [...counts, `${unchanged} unchanged`].join(', ')].join('\n')}\n`;
}

const clean = (text: string) => replaceControlCharacters(text);

function formatMember({ path, before, after, is_secret: isSecret }: MemberChange, paint: Paint): string[] {
  if (isSecret) return [paint('update', clean(`    ${path}: (secret)`))];
  return [
    ...(before === undefined ? [] : [paint('delete', clean(`    - ${path}: ${JSON.stringify(before)}`))]),
    ...(after === undefined ? [] : [paint('create', clean(`    + ${path}: ${JSON.stringify(after)}`))]),
  ];
}

function formatTraffic(
  { routes, more_routes: more = 0, apis, policies, keys }: Report['traffic'],
  paint: Paint,
): string[] {
  if (apis === 0 && policies.length === 0) return [];
  const formatRoute = ({ domain, listen_path }: Route) => `${domain}${listen_path}`;
  return [
    `Live traffic: ${apis} APIs, ${policies.length} policies, ${keys} keys`,
    ...routes.flatMap(({ api, before, after }) => [
      ...(before ? [paint('delete', clean(`    - route ${formatRoute(before)} of ${api}`))] : []),
      ...(after ? [paint('create', clean(`    + route ${formatRoute(after)} of ${api}`))] : []),
    ]),
    ...(more > 0 ? [`    and ${more} more routes`] : []),
  ];
}
