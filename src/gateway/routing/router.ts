import { compilePathTemplate, hostLabelPattern, type PathTemplate } from '#definition/path-template.ts';
import { literalHostSuffix } from '#definition/route-overlap.ts';

/**
 * Finds the API a call is for by host and listen path. Static segments are map look-ups, so the cost follows the depth of
 * the path, not the number of APIs. A router never changes: `changed` gives a new one
 * that shares what is the same.
 */
export interface RouteMatch<T> {
  readonly value: T;
  /** How much of the path the listen path took. */
  readonly listenPath: string;
  readonly parameters: Readonly<Record<string, string>> | undefined;
}

export interface RouteChange<T> {
  readonly host: string;
  readonly listenPath: string;
  /** Undefined takes the route away. */
  readonly value: T | undefined;
}

export interface RouterRules {
  /** `/app` answers `/apple` too, as incumbents do. */
  readonly prefix: boolean;
}

/** Keeps routes from requests they fit and may not answer. */
export interface RouteGuard<T> {
  /** `isNamed`: the route names this very host. */
  admits(value: T, router: Router<T>, host: string, path: string, isNamed: boolean): boolean;
}

type Admits<T> = ((value: T) => boolean) | undefined;

interface Node<T> {
  readonly fixed: ReadonlyMap<string, Node<T>>;
  readonly open: readonly OpenChild<T>[];
  /** The value whose listen path ends here, without and with a final slash. */
  readonly here: T | undefined;
  readonly hereSlash: T | undefined;
}

interface OpenChild<T> {
  readonly segment: string;
  readonly pattern: PathTemplate;
  readonly node: Node<T>;
}

/** Shared by all nodes that have none: most listen paths end where nothing goes on. */
const noFixed: ReadonlyMap<string, never> = new Map<string, never>();
const noOpen: readonly never[] = [];
const emptyNode: Node<never> = { fixed: noFixed, open: noOpen, here: undefined, hereSlash: undefined };

interface OpenHost {
  readonly host: string;
  readonly pattern: PathTemplate;
}

export class Router<T> {
  readonly #rules: RouterRules;
  readonly #hosts: ReadonlyMap<string, Node<T>>;
  /** Hosts with parameters by what they end in: a call looks at those that end as its own does. */
  readonly #openHosts: ReadonlyMap<string, readonly OpenHost[]>;

  constructor(rules: RouterRules, hosts: ReadonlyMap<string, Node<T>> = new Map()) {
    this.#rules = rules;
    this.#hosts = hosts;
    const open = [...hosts.keys()].filter(host => host.includes('{')).sort(sayingMore);
    this.#openHosts = Map.groupBy(
      open.map(host => ({ host, pattern: compilePathTemplate(host, hostLabelPattern) })),
      ({ host }) => literalHostSuffix(host),
    );
  }

  /** All changes at once: only what they touch is made anew. */
  changed(changes: readonly RouteChange<T>[]): Router<T> {
    if (changes.length === 0) return this;
    const hosts = new Map(this.#hosts);
    const fresh: Fresh = new WeakSet();
    for (const { host, listenPath, value } of changes) {
      const root = owned(hosts.get(host) ?? emptyNode, fresh) as Draft<T>;
      place(root, segmentsOf(listenPath), 0, listenPath.endsWith('/'), value, fresh);
      if (isEmpty(root)) hosts.delete(host);
      else hosts.set(host, root);
    }
    return new Router(this.#rules, hosts);
  }

  /** Another one by the same rules that leads nowhere yet. */
  empty(): Router<T> {
    return new Router(this.#rules);
  }

  get isPrefix(): boolean {
    return this.#rules.prefix;
  }

  get isEmpty(): boolean {
    return this.#hosts.size === 0;
  }

  /** Everything it leads to. */
  values(): T[] {
    return [...this.#hosts.values()].flatMap(valuesBelow);
  }

  /** `host` is lower-case, without port and final dot; `path` is canonical. APIs with a host of their own come first. */
  find(host: string, path: string, guard?: RouteGuard<T>): RouteMatch<T> | undefined {
    const own = this.#hosts.get(host);
    const named: Admits<T> = guard && (value => guard.admits(value, this, host, path, true));
    const found = own && host !== '' ? this.#below(own, path, named) : undefined;
    if (found) return found;
    const wide: Admits<T> = guard && (value => guard.admits(value, this, host, path, false));
    return this.#openHost(host, path, wide) ?? this.#anyHost(path, wide);
  }

  /** Every route that fits, whichever would answer. */
  *matches(host: string, path: string): Generator<{ readonly value: T; readonly isNamed: boolean }> {
    const { prefix } = this.#rules;
    const own = host === '' ? undefined : this.#hosts.get(host);
    if (own) for (const value of fitting(own, path, 0, prefix)) yield { value, isNamed: true };
    const ends = ['', ...[...host.matchAll(/\./g)].map(({ index }) => host.slice(index))];
    const open = ends.flatMap(end => this.#openHosts.get(end) ?? []).filter(({ pattern }) => pattern.match(host));
    for (const name of [...open.map(it => it.host), '']) {
      const root = this.#hosts.get(name);
      if (root) for (const value of fitting(root, path, 0, prefix)) yield { value, isNamed: false };
    }
  }

  #anyHost(path: string, admits: Admits<T>): RouteMatch<T> | undefined {
    const root = this.#hosts.get('');
    return root && this.#below(root, path, admits);
  }

  #openHost(host: string, path: string, admits: Admits<T>): RouteMatch<T> | undefined {
    if (this.#openHosts.size === 0) return undefined;
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      const found = this.#openHostAmong(this.#openHosts.get(host.slice(dot)), host, path, admits);
      if (found) return found;
    }
    return this.#openHostAmong(this.#openHosts.get(''), host, path, admits);
  }

  #openHostAmong(
    open: readonly OpenHost[] = [],
    host: string,
    path: string,
    admits: Admits<T>,
  ): RouteMatch<T> | undefined {
    for (const { host: name, pattern } of open) {
      const values = pattern.match(host);
      const found = values && this.#below(this.#hosts.get(name)!, path, admits);
      if (found) return { ...found, parameters: { ...found.parameters, ...named(pattern.names, values) } };
    }
    return undefined;
  }

  #below(root: Node<T>, path: string, admits: Admits<T>): RouteMatch<T> | undefined {
    return deepest(root, path, 0, this.#rules.prefix, admits, undefined);
  }
}

/** All routes of a host that fit a path. */
function* fitting<T>(node: Node<T>, path: string, at: number, prefix: boolean): Generator<T> {
  if (node.hereSlash !== undefined && at < path.length) yield node.hereSlash;
  if (node.here !== undefined) yield node.here;
  const end = path.indexOf('/', at + 1);
  const next = end < 0 ? path.length : end;
  const segment = path.slice(at + 1, next);
  if (segment === '') return;
  const child = node.fixed.get(segment);
  if (child) yield* fitting(child, path, next, prefix);
  for (const { pattern, node: open } of node.open) if (pattern.match(segment)) yield* fitting(open, path, next, prefix);
  for (let length = segment.length - 1; prefix && length > 0; length--) {
    const here = node.fixed.get(segment.slice(0, length))?.here;
    if (here !== undefined) yield here;
  }
}

function valuesBelow<T>({ fixed, open, here, hereSlash }: Node<T>): T[] {
  const below = [...fixed.values(), ...open.map(it => it.node)].flatMap(valuesBelow);
  return [...(here === undefined ? [] : [here]), ...(hereSlash === undefined ? [] : [hereSlash]), ...below];
}

const segmentsOf = (path: string) => path.split('/').filter(segment => segment !== '');

/** Nodes made in this batch: nobody else has them yet, so they may still be written to. */
type Fresh = WeakSet<object>;
interface Draft<T> {
  fixed: ReadonlyMap<string, Node<T>>;
  open: readonly OpenChild<T>[];
  here: T | undefined;
  hereSlash: T | undefined;
}

function owned<T>(node: Node<T>, fresh: Fresh): Draft<T> {
  if (fresh.has(node)) return node as Draft<T>;
  const { fixed, open, here, hereSlash } = node;
  const copy: Draft<T> = { fixed: fixed.size === 0 ? noFixed : new Map(fixed), open, here, hereSlash };
  fresh.add(copy);
  return copy;
}

function place<T>(
  node: Draft<T>,
  segments: readonly string[],
  at: number,
  slash: boolean,
  value: T | undefined,
  fresh: Fresh,
): void {
  const segment = segments[at];
  if (segment === undefined) {
    if (slash) node.hereSlash = value;
    else node.here = value;
    return;
  }
  const known = segment.includes('{') ? node.open.find(it => it.segment === segment)?.node : node.fixed.get(segment);
  const child = owned(known ?? emptyNode, fresh) as Draft<T>;
  place(child, segments, at + 1, slash, value, fresh);
  if (!segment.includes('{')) {
    const fixed = node.fixed === noFixed ? new Map<string, Node<T>>() : (node.fixed as Map<string, Node<T>>);
    if (isEmpty(child)) fixed.delete(segment);
    else fixed.set(segment, child);
    node.fixed = fixed.size === 0 ? noFixed : fixed;
    return;
  }
  const others = node.open.filter(it => it.segment !== segment);
  if (!isEmpty(child)) {
    const next = others.findIndex(it => sayingMore(segment, it.segment) < 0);
    others.splice(next < 0 ? others.length : next, 0, { segment, pattern: compilePathTemplate(segment), node: child });
  }
  node.open = others.length === 0 ? noOpen : others;
}

const isEmpty = (node: Node<unknown>) =>
  node.fixed.size === 0 && node.open.length === 0 && node.here === undefined && node.hereSlash === undefined;

/** The longest listen path that fits. Fixed segments are tried before open ones: they say more. */
function deepest<T>(
  node: Node<T>,
  path: string,
  at: number,
  prefix: boolean,
  admits: Admits<T>,
  given: Record<string, string> | undefined,
): RouteMatch<T> | undefined {
  if (node.fixed !== noFixed || node.open !== noOpen) {
    const end = path.indexOf('/', at + 1);
    const next = end < 0 ? path.length : end;
    const segment = path.slice(at + 1, next);
    const found = segment === '' ? undefined : deeper(node, path, at, segment, next, prefix, admits, given);
    if (found) return found;
  }
  if (node.hereSlash !== undefined && at < path.length && (!admits || admits(node.hereSlash)))
    return { value: node.hereSlash, listenPath: path.slice(0, at + 1), parameters: given };
  if (node.here !== undefined && (!admits || admits(node.here)))
    return { value: node.here, listenPath: path.slice(0, at), parameters: given };
  return undefined;
}

function deeper<T>(
  node: Node<T>,
  path: string,
  at: number,
  segment: string,
  next: number,
  prefix: boolean,
  admits: Admits<T>,
  given: Record<string, string> | undefined,
): RouteMatch<T> | undefined {
  const child = node.fixed.get(segment);
  return (
    (child && deepest(child, path, next, prefix, admits, given)) ??
    deepestOpen(node, path, segment, next, prefix, admits, given) ??
    (prefix ? byPrefix(node, path, at, segment, admits, given) : undefined)
  );
}

function deepestOpen<T>(
  node: Node<T>,
  path: string,
  segment: string,
  next: number,
  prefix: boolean,
  admits: Admits<T>,
  given: Record<string, string> | undefined,
) {
  let longest: RouteMatch<T> | undefined;
  for (const { pattern, node: child } of node.open) {
    const values = pattern.match(segment);
    const found = values && deepest(child, path, next, prefix, admits, { ...given, ...named(pattern.names, values) });
    if (found && !(longest && longest.listenPath.length >= found.listenPath.length)) longest = found;
  }
  return longest;
}

/** What says more comes first, and of two that say as much always the same: never whichever was made or changed last. */
const sayingMore = (one: string, other: string): number =>
  saidBy(other) - saidBy(one) || other.length - one.length || (one < other ? -1 : 1);

/** 2: has text of its own; 1: a pattern; 0: anything. */
const saidBy = (open: string): number => (open[0] !== '{' || open.at(-1) !== '}' ? 2 : open.includes(':') ? 1 : 0);

/** The longest fixed segment this one begins with, for those who asked for loose matching. */
function byPrefix<T>(
  node: Node<T>,
  path: string,
  at: number,
  segment: string,
  admits: Admits<T>,
  given: Record<string, string> | undefined,
): RouteMatch<T> | undefined {
  for (let length = segment.length - 1; length > 0; length--) {
    const child = node.fixed.get(segment.slice(0, length));
    if (child?.here !== undefined && (!admits || admits(child.here)))
      return { value: child.here, listenPath: path.slice(0, at + 1 + length), parameters: given };
  }
  return undefined;
}

const named = (names: readonly string[], values: readonly string[]) =>
  Object.fromEntries(names.map((name, index) => [name, values[index]!]));
