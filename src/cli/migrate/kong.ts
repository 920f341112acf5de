import { arrayOrEmpty, isObject, type JsonObject } from '#base/json-tree.ts';
import { addKongConsumers } from './kong-consumers.ts';
import { applyPlugins, type KongApi, type KongPlugin, readPlugins } from './kong-plugins.ts';
import { createMigrationPlan, type MigrationPlan, type PlanBuilder } from './plan.ts';
import { type ProxiedTarget, toProxiedDefinition } from './proxied-api.ts';
import { parseExport, readExports } from './read-exports.ts';

/** Declarative configuration of Kong: services, routes, plugins, consumers, upstreams and certificates. */

const toText = (value: unknown) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');
const readList = (value: unknown) => arrayOrEmpty(value).filter(isObject);
const readTexts = (value: unknown) => arrayOrEmpty(value).map(toText).filter(Boolean);

interface KongFile {
  readonly plan: PlanBuilder;
  readonly path: string;
  readonly config: JsonObject;
  readonly globalPlugins: readonly KongPlugin[];
  readonly apis: KongApi[];
}

export function readKongConfig(path: string): MigrationPlan {
  const plan = createMigrationPlan();
  for (const file of readExports(path, /\.(json|ya?ml)$/i, plan))
    for (const value of parseExport(file, plan) ?? []) {
      if (isObject(value) && ('_format_version' in value || Array.isArray(value.services)))
        readFile(plan, file.path, value);
      else plan.leaveOut(file.path, 'document', 'it is no declarative configuration');
    }
  return plan.build();
}

const readMembers = new Set(
  '_format_version _transform _comment _info services routes plugins consumers upstreams certificates snis'.split(' '),
);

function readFile(plan: PlanBuilder, path: string, config: JsonObject): void {
  const isGlobal = ({ service, route, consumer }: JsonObject) => !service && !route && !consumer;
  const globalPlugins = readPlugins(readList(config.plugins).filter(isGlobal), 'plugins');
  const file: KongFile = { plan, path, config, globalPlugins, apis: [] };
  for (const name of Object.keys(config)) if (!readMembers.has(name)) plan.leaveOut(path, name, 'it has no equivalent');
  for (const service of readList(config.services)) addService(file, service);
  for (const route of readList(config.routes)) addLooseRoute(file, route);
  for (const [index, certificate] of readList(config.certificates).entries()) addCertificate(file, certificate, index);
  addKongConsumers(plan, path, readList(config.consumers), file.apis);
}

const readName = ({ name, id }: JsonObject) => toText(name) || toText(id);
/** References are names, ids, or objects with either. */
const refersTo = (reference: unknown, target: JsonObject) => {
  const wanted = isObject(reference) ? readName(reference) : toText(reference);
  return wanted !== '' && (wanted === toText(target.name) || wanted === toText(target.id));
};

function addService(file: KongFile, service: JsonObject): void {
  const { config, plan, path } = file;
  const place = `services.${readName(service) || '?'}`;
  if (service.enabled === false) return plan.leaveOut(path, place, 'it is disabled');
  const url = readUrl(service);
  if (!url) return plan.leaveOut(path, place, 'its URL is not of HTTP');
  const routes = [
    ...readList(service.routes),
    ...readList(config.routes).filter(route => refersTo(route.service, service)),
  ];
  if (routes.length === 0) plan.leaveOut(path, place, 'it has no route');
  for (const name of [
    'client_certificate',
    'ca_certificates',
    'tls_verify',
    'retries',
    'connect_timeout',
    'read_timeout',
    'write_timeout',
  ])
    if (service[name] !== undefined && service[name] !== null)
      plan.leaveOut(path, `${place}.${name}`, 'it is not moved');
  for (const [index, route] of routes.entries())
    addRoute(file, { service, url, route, place: `${place}.routes.${readName(route) || index}` });
}

function addLooseRoute({ plan, path, config }: KongFile, route: JsonObject): void {
  if (route.service !== undefined && readList(config.services).some(service => refersTo(route.service, service)))
    return;
  plan.leaveOut(path, `routes.${readName(route) || '?'}`, 'it has no service');
}

/** URL of a service, as one text or in parts. */
function readUrl({ url, protocol, host, port, path }: JsonObject): URL | undefined {
  const portText = toText(port) && `:${toText(port)}`;
  const text = toText(url) || `${toText(protocol) || 'http'}://${toText(host)}${portText}${toText(path)}`;
  if (!URL.canParse(text)) return undefined;
  const parsed = new URL(text);
  return /^https?:$/.test(parsed.protocol) && parsed.hostname !== '' ? parsed : undefined;
}

interface RouteInput {
  readonly service: JsonObject;
  readonly url: URL;
  readonly route: JsonObject;
  readonly place: string;
}

/** Reason for which a route cannot be expressed: without the rule it would match more requests. */
function findRouteReason(route: JsonObject): string | undefined {
  const protocols = readTexts(route.protocols);
  if (protocols.length > 0 && !protocols.some(it => /^https?$/.test(it))) return `it is of ${protocols.join(', ')}`;
  if (isObject(route.headers) && Object.keys(route.headers).length > 0) return 'it matches headers';
  if (readTexts(route.snis).length > 0) return 'it matches server names of TLS';
  if (arrayOrEmpty(route.sources).length > 0 || arrayOrEmpty(route.destinations).length > 0)
    return 'it matches addresses';
  return typeof route.expression === 'string' ? 'it is an expression' : undefined;
}

function addRoute(file: KongFile, { service, url, route, place }: RouteInput): void {
  const { plan, path, config, globalPlugins } = file;
  const reason = findRouteReason(route);
  if (reason) return plan.leaveOut(path, place, reason);
  const own = (holder: JsonObject, member: string) => [
    ...readList(holder.plugins),
    ...readList(config.plugins).filter(plugin => refersTo(plugin[member], holder)),
  ];
  // The plugin of a route takes precedence over that of its service, which does over a global one.
  const plugins = [
    ...globalPlugins,
    ...readPlugins(own(service, 'service'), place),
    ...readPlugins(own(route, 'route'), place),
  ];
  const applied = applyPlugins(plugins);
  for (const { what, reason: why } of applied.leftOut) plan.leaveOut(path, `${place}: ${what}`, why);
  if (applied.blocked) return plan.leaveOut(path, place, applied.blocked);
  const hosts = readTexts(route.hosts);
  const paths = readTexts(route.paths);
  for (const domain of hosts.length > 0 ? hosts : [''])
    for (const listenPath of paths.length > 0 ? paths : ['/']) {
      const wrong = findPathReason(listenPath, domain);
      if (wrong) plan.leaveOut(path, `${place} ${domain}${listenPath}`, wrong);
      else addApi(file, { route, place, url, domain, listenPath, applied, name: readName(route) || readName(service) });
    }
}

const findPathReason = (path: string, domain: string) => {
  if (!path.startsWith('/')) return 'its path is a regular expression';
  return /[*~]/.test(domain) ? 'its host is a pattern' : undefined;
};

interface ApiInput {
  readonly route: JsonObject;
  readonly place: string;
  readonly url: URL;
  readonly domain: string;
  readonly listenPath: string;
  readonly name: string;
  readonly applied: ReturnType<typeof applyPlugins>;
}

function addApi(file: KongFile, { route, place, url, domain, listenPath, name, applied }: ApiInput): void {
  const definition = toProxiedDefinition({
    name: name || listenPath,
    listenPath,
    domain,
    stripListenPath: route.strip_path !== false,
    preserveHost: route.preserve_host === true,
    targets: findTargets(file, url),
    methods: readTexts(route.methods),
    members: applied.members,
    version: applied.version,
  });
  const notes = [...applied.notes];
  if (!listenPath.endsWith('/')) notes.push('the listen path matches whole segments');
  file.plan.add({ kind: 'API', id: definition.api_id, source: `${file.path}: ${place}`, body: definition, notes });
  file.apis.push({ definition, access: applied.access });
}

/** Targets of the upstream that the host of a service names; else the URL itself. */
function findTargets({ config, plan, path }: KongFile, url: URL): ProxiedTarget[] {
  const upstream = readList(config.upstreams).find(it => readName(it) === url.hostname);
  if (!upstream) return [{ url: url.href, weight: 1 }];
  if (upstream.algorithm !== undefined && upstream.algorithm !== 'round-robin')
    plan.leaveOut(path, `upstreams.${url.hostname}.algorithm`, 'targets are used in turn');
  if (upstream.healthchecks !== undefined)
    plan.leaveOut(path, `upstreams.${url.hostname}.healthchecks`, 'configure uptime tests in the API');
  return readList(upstream.targets).flatMap(({ target, weight }) => {
    const address = toText(target);
    const text = `${url.protocol}//${/:\d+$/.test(address) ? address : `${address}:8000`}${url.pathname}`;
    const share = typeof weight === 'number' ? weight : 100;
    return URL.canParse(text) && share > 0 ? [{ url: text, weight: share }] : [];
  });
}

function addCertificate({ plan, path }: KongFile, { cert, key, snis }: JsonObject, index: number): void {
  const source = `${path}: certificates[${index}]`;
  if (typeof cert !== 'string' || typeof key !== 'string')
    return plan.leaveOut(source, 'certificate', 'it has no PEM text');
  const names = arrayOrEmpty(snis).map(it => toText(isObject(it) ? it.name : it));
  const notes = names.length > 0 ? [`add it to the APIs of ${names.join(', ')}`] : [];
  plan.add({ kind: 'certificate', id: source, source, body: `${cert.trim()}\n${key.trim()}\n`, notes });
}
