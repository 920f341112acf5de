import { ShardedMap } from '#base/sharded-map.ts';
import { compilePathTemplate, hostLabelPattern, type PathTemplate } from '#definition/path-template.ts';
import { literalHostSuffix } from '#definition/route-overlap.ts';

/**
 * A match of the router, a persistent trie by host and listen path. Static segments are map look-ups, so the cost
 * follows the depth of the path, not the number of APIs. A router is immutable: `withChanges` returns a new one that
 * shares unchanged nodes.
 */
export interface RouteMatch<T> {
  readonly value: T;
  /** The part of the path that the listen path matched. */
  readonly listenPath: string;
  readonly parameters: Readonly<Record<string, string>> | undefined;
}

export interface RouteChange<T> {
  readonly host: string;
  readonly listenPath: string;
  /** Undefined removes the route. */
  readonly value: T | undefined;
}

export interface RouterRules {
  /** `/app` answers `/apple` too, as incumbents do. */
  readonly prefix: boolean;
}

/** Tenant isolation: rejects a matching route that must not answer the request. */
export interface RouteGuard<T> {
  /** `isNamed`: the route names this very host. */
  allows(value: T, router: Router<T>, host: string, path: string, isNamed: boolean): boolean;
}

type Admits<T> = ((value: T) => boolean) | undefined;

interface Node<T> {
  readonly staticChildren: ReadonlyMap<string, Node<T>>;
  readonly parameterChildren: readonly ParameterChild<T>[];
  /** The value whose listen path ends here, without and with a trailing slash. */
  readonly value: T | undefined;
  readonly slashValue: T | undefined;
}

interface ParameterChild<T> {
  readonly segment: string;
  readonly pattern: PathTemplate;
  readonly node: Node<T>;
}

/** Shared by all leaf nodes, which are the most. */
const noStaticChildren: ReadonlyMap<string, never> = new Map<string, never>();
const noParameterChildren: readonly never[] = [];
const emptyNode: Node<never> = {
  staticChildren: noStaticChildren,
  parameterChildren: noParameterChildren,
  value: undefined,
  slashValue: undefined,
};

interface HostTemplate {
  readonly host: string;
  readonly pattern: PathTemplate;
}

export class Router<T> {
  readonly #rules: RouterRules;
  readonly #hosts: ShardedMap<Node<T>>;
  /** Host templates by their literal suffix: a request tries only those whose suffix matches. */
  readonly #hostTemplates: ReadonlyMap<string, readonly HostTemplate[]>;

  constructor(
    rules: RouterRules,
    hosts = new ShardedMap<Node<T>>(),
    hostTemplates: ReadonlyMap<string, readonly HostTemplate[]> = new Map(),
  ) {
    this.#rules = rules;
    this.#hosts = hosts;
    this.#hostTemplates = hostTemplates;
  }

  /** Applies a batch of changes; copies only the nodes on their paths. */
  withChanges(changes: readonly RouteChange<T>[]): Router<T> {
    if (changes.length === 0) return this;
    const hosts = this.#hosts.copy();
    const fresh: MutableNodes = new WeakSet();
    for (const { host, listenPath, value } of changes) {
      const root = toMutable(hosts.get(host) ?? emptyNode, fresh) as MutableNode<T>;
      setRoute(root, splitSegments(listenPath), 0, listenPath.endsWith('/'), value, fresh);
      if (isEmpty(root)) hosts.delete(host);
      else hosts.set(host, root);
    }
    const changesTemplates = changes.some(({ host }) => host.includes('{'));
    return new Router(this.#rules, hosts, changesTemplates ? compileHostTemplates(hosts) : this.#hostTemplates);
  }

  /** An empty router with the same rules. */
  createEmpty(): Router<T> {
    return new Router(this.#rules);
  }

  get isPrefix(): boolean {
    return this.#rules.prefix;
  }

  get isEmpty(): boolean {
    return this.#hosts.size === 0;
  }

  /** All routed values. */
  values(): T[] {
    return [...this.#hosts.values()].flatMap(collectValues);
  }

  /** `host` is lower-case, without port and final dot; `path` is canonical. APIs with a host of their own come first. */
  find(host: string, path: string, guard?: RouteGuard<T>): RouteMatch<T> | undefined {
    const exactHost = this.#hosts.get(host);
    const admitsExact: Admits<T> = guard && (value => guard.allows(value, this, host, path, true));
    const found = exactHost && host !== '' ? this.#matchPath(exactHost, path, admitsExact) : undefined;
    if (found) return found;
    const admitsAny: Admits<T> = guard && (value => guard.allows(value, this, host, path, false));
    return this.#matchTemplates(host, path, admitsAny) ?? this.#matchAnyHost(path, admitsAny);
  }

  /** Every matching route, not only the one that would answer. */
  *matches(host: string, path: string): Generator<{ readonly value: T; readonly isNamed: boolean }> {
    const { prefix } = this.#rules;
    const own = host === '' ? undefined : this.#hosts.get(host);
    if (own) for (const value of matchAll(own, path, 0, prefix)) yield { value, isNamed: true };
    const ends = ['', ...[...host.matchAll(/\./g)].map(({ index }) => host.slice(index))];
    const open = ends.flatMap(end => this.#hostTemplates.get(end) ?? []).filter(({ pattern }) => pattern.match(host));
    for (const name of [...open.map(it => it.host), '']) {
      const root = this.#hosts.get(name);
      if (root) for (const value of matchAll(root, path, 0, prefix)) yield { value, isNamed: false };
    }
  }

  #matchAnyHost(path: string, admits: Admits<T>): RouteMatch<T> | undefined {
    const root = this.#hosts.get('');
    return root && this.#matchPath(root, path, admits);
  }

  #matchTemplates(host: string, path: string, admits: Admits<T>): RouteMatch<T> | undefined {
    if (this.#hostTemplates.size === 0) return undefined;
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      const found = this.#matchTemplatesIn(this.#hostTemplates.get(host.slice(dot)), host, path, admits);
      if (found) return found;
    }
    return this.#matchTemplatesIn(this.#hostTemplates.get(''), host, path, admits);
  }

  #matchTemplatesIn(
    open: readonly HostTemplate[] = [],
    host: string,
    path: string,
    admits: Admits<T>,
  ): RouteMatch<T> | undefined {
    for (const { host: name, pattern } of open) {
      const values = pattern.match(host);
      const found = values && this.#matchPath(this.#hosts.get(name)!, path, admits);
      if (found) return { ...found, parameters: { ...found.parameters, ...zipParameters(pattern.names, values) } };
    }
    return undefined;
  }

  #matchPath(root: Node<T>, path: string, admits: Admits<T>): RouteMatch<T> | undefined {
    return matchLongest(root, path, 0, this.#rules.prefix, admits, undefined);
  }
}

function compileHostTemplates(hosts: ReadonlyMap<string, unknown>): ReadonlyMap<string, readonly HostTemplate[]> {
  const open = [...hosts.keys()].filter(host => host.includes('{')).sort(compareSpecificity);
  return Map.groupBy(
    open.map(host => ({ host, pattern: compilePathTemplate(host, hostLabelPattern) })),
    ({ host }) => literalHostSuffix(host),
  );
}

/** All routes of a host that match a path. */
function* matchAll<T>(node: Node<T>, path: string, at: number, prefix: boolean): Generator<T> {
  if (node.slashValue !== undefined && at < path.length) yield node.slashValue;
  if (node.value !== undefined) yield node.value;
  const end = path.indexOf('/', at + 1);
  const next = end < 0 ? path.length : end;
  const segment = path.slice(at + 1, next);
  if (segment === '') return;
  const child = node.staticChildren.get(segment);
  if (child) yield* matchAll(child, path, next, prefix);
  for (const { pattern, node: open } of node.parameterChildren)
    if (pattern.match(segment)) yield* matchAll(open, path, next, prefix);
  for (let length = segment.length - 1; prefix && length > 0; length--) {
    const here = node.staticChildren.get(segment.slice(0, length))?.value;
    if (here !== undefined) yield here;
  }
}

function collectValues<T>({ staticChildren, parameterChildren, value, slashValue }: Node<T>): T[] {
  const below = [...staticChildren.values(), ...parameterChildren.map(it => it.node)].flatMap(collectValues);
  return [...(value === undefined ? [] : [value]), ...(slashValue === undefined ? [] : [slashValue]), ...below];
}

const splitSegments = (path: string) => path.split('/').filter(segment => segment !== '');

/** Nodes created in this batch: not yet shared, so they may be mutated. */
type MutableNodes = WeakSet<object>;
interface MutableNode<T> {
  staticChildren: ReadonlyMap<string, Node<T>>;
  parameterChildren: readonly ParameterChild<T>[];
  value: T | undefined;
  slashValue: T | undefined;
}

function toMutable<T>(node: Node<T>, fresh: MutableNodes): MutableNode<T> {
  if (fresh.has(node)) return node as MutableNode<T>;
  const { staticChildren, parameterChildren, value, slashValue } = node;
  const copy: MutableNode<T> = {
    staticChildren: copyChildren(staticChildren),
    parameterChildren,
    value,
    slashValue,
  };
  fresh.add(copy);
  return copy;
}

type StaticChildren<T> = Map<string, Node<T>> | ShardedMap<Node<T>>;

function copyChildren<T>(children: ReadonlyMap<string, Node<T>>): ReadonlyMap<string, Node<T>> {
  if (children.size === 0) return noStaticChildren;
  return children instanceof ShardedMap ? children.copy() : new Map(children);
}

/** Most nodes have few children and a plain map; thousands below one node are sharded. */
const shardIfLarge = <T>(children: StaticChildren<T>): StaticChildren<T> =>
  children instanceof Map && children.size >= minShardedChildren ? new ShardedMap(children) : children;

const minShardedChildren = 100;

function setRoute<T>(
  node: MutableNode<T>,
  segments: readonly string[],
  at: number,
  slash: boolean,
  value: T | undefined,
  fresh: MutableNodes,
): void {
  const segment = segments[at];
  if (segment === undefined) {
    if (slash) node.slashValue = value;
    else node.value = value;
    return;
  }
  const known = segment.includes('{')
    ? node.parameterChildren.find(it => it.segment === segment)?.node
    : node.staticChildren.get(segment);
  const child = toMutable(known ?? emptyNode, fresh) as MutableNode<T>;
  setRoute(child, segments, at + 1, slash, value, fresh);
  if (!segment.includes('{')) {
    const fixed =
      node.staticChildren === noStaticChildren
        ? new Map<string, Node<T>>()
        : (node.staticChildren as StaticChildren<T>);
    if (isEmpty(child)) fixed.delete(segment);
    else fixed.set(segment, child);
    node.staticChildren = fixed.size === 0 ? noStaticChildren : shardIfLarge(fixed);
    return;
  }
  const others = node.parameterChildren.filter(it => it.segment !== segment);
  if (!isEmpty(child)) {
    const next = others.findIndex(it => compareSpecificity(segment, it.segment) < 0);
    others.splice(next < 0 ? others.length : next, 0, { segment, pattern: compilePathTemplate(segment), node: child });
  }
  node.parameterChildren = others.length === 0 ? noParameterChildren : others;
}

const isEmpty = (node: Node<unknown>) =>
  node.staticChildren.size === 0 &&
  node.parameterChildren.length === 0 &&
  node.value === undefined &&
  node.slashValue === undefined;

/** Longest-prefix match. Static segments are tried before parameters: they are more specific. */
function matchLongest<T>(
  node: Node<T>,
  path: string,
  at: number,
  prefix: boolean,
  admits: Admits<T>,
  parameters: Record<string, string> | undefined,
): RouteMatch<T> | undefined {
  if (node.staticChildren !== noStaticChildren || node.parameterChildren !== noParameterChildren) {
    const end = path.indexOf('/', at + 1);
    const next = end < 0 ? path.length : end;
    const segment = path.slice(at + 1, next);
    const match = segment === '' ? undefined : matchChildren(node, path, at, segment, next, prefix, admits, parameters);
    if (match) return match;
  }
  if (node.slashValue !== undefined && at < path.length && (!admits || admits(node.slashValue)))
    return { value: node.slashValue, listenPath: path.slice(0, at + 1), parameters: parameters };
  if (node.value !== undefined && (!admits || admits(node.value)))
    return { value: node.value, listenPath: path.slice(0, at), parameters: parameters };
  return undefined;
}

function matchChildren<T>(
  node: Node<T>,
  path: string,
  at: number,
  segment: string,
  next: number,
  prefix: boolean,
  admits: Admits<T>,
  parameters: Record<string, string> | undefined,
): RouteMatch<T> | undefined {
  const child = node.staticChildren.get(segment);
  return (
    (child && matchLongest(child, path, next, prefix, admits, parameters)) ??
    matchParameters(node, path, segment, next, prefix, admits, parameters) ??
    (prefix ? matchPrefix(node, path, at, segment, admits, parameters) : undefined)
  );
}

function matchParameters<T>(
  node: Node<T>,
  path: string,
  segment: string,
  next: number,
  prefix: boolean,
  admits: Admits<T>,
  parameters: Record<string, string> | undefined,
) {
  let longestMatch: RouteMatch<T> | undefined;
  for (const { pattern, node: child } of node.parameterChildren) {
    const values = pattern.match(segment);
    const match =
      values &&
      matchLongest(child, path, next, prefix, admits, { ...parameters, ...zipParameters(pattern.names, values) });
    if (match && !(longestMatch && longestMatch.listenPath.length >= match.listenPath.length)) longestMatch = match;
  }
  return longestMatch;
}

/** Specificity order: the more specific template first, ties by text, so that the order never depends on load order. */
const compareSpecificity = (one: string, other: string): number =>
  rankSpecificity(other) - rankSpecificity(one) || other.length - one.length || (one < other ? -1 : 1);

/** 2: contains literal text; 1: a regex; 0: matches anything. */
const rankSpecificity = (open: string): number =>
  open[0] !== '{' || open.at(-1) !== '}' ? 2 : open.includes(':') ? 1 : 0;

/** Prefix mode: the longest static segment that this one starts with. */
function matchPrefix<T>(
  node: Node<T>,
  path: string,
  at: number,
  segment: string,
  admits: Admits<T>,
  parameters: Record<string, string> | undefined,
): RouteMatch<T> | undefined {
  for (let length = segment.length - 1; length > 0; length--) {
    const child = node.staticChildren.get(segment.slice(0, length));
    if (child?.value !== undefined && (!admits || admits(child.value)))
      return { value: child.value, listenPath: path.slice(0, at + 1 + length), parameters: parameters };
  }
  return undefined;
}

const zipParameters = (names: readonly string[], values: readonly string[]) =>
  Object.fromEntries(names.map((name, index) => [name, values[index]!]));
