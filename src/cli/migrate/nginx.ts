import { type NginxDirective, parseNginx } from './nginx-config.ts';
import { applyNginxDirectives } from './nginx-directives.ts';
import { createMigrationPlan, type MigrationPlan, type PlanBuilder } from './plan.ts';
import { type ProxiedTarget, toProxiedDefinition } from './proxied-api.ts';
import { readExports } from './read-exports.ts';

/** Plain reverse proxies of nginx: each location with `proxy_pass` becomes an API, per name of its server. */

export function readNginxConfig(path: string): MigrationPlan {
  const plan = createMigrationPlan();
  const blocks: NginxFile[] = [];
  for (const { path: file, text } of readExports(path, /(\.conf|\.nginx|^nginx[^.]*)$/i, plan)) {
    const parsed = parseNginx(text);
    if ('errorLine' in parsed) plan.leaveOut(`${file}:${parsed.errorLine}`, 'file', 'it is no nginx configuration');
    else blocks.push({ file, directives: flatten(parsed.directives) });
  }
  const upstreams = readUpstreams(plan, blocks);
  for (const { file, directives } of blocks) {
    const shared = directives.filter(({ name }) => name !== 'server' && name !== 'upstream');
    for (const server of directives.filter(({ name, block }) => name === 'server' && block))
      addServer({ plan, file, upstreams }, server.block!, shared);
    for (const directive of shared) listShared(plan, file, directive);
  }
  return plan.build();
}

interface NginxFile {
  readonly file: string;
  readonly directives: readonly NginxDirective[];
}

interface NginxReader {
  readonly plan: PlanBuilder;
  readonly file: string;
  readonly upstreams: ReadonlyMap<string, readonly ProxiedTarget[]>;
}

/** Directives of `http` stand beside those of the file: files of `conf.d` have no `http` of their own. */
const flatten = (directives: readonly NginxDirective[]): NginxDirective[] =>
  directives.flatMap(directive => (directive.name === 'http' ? (directive.block ?? []) : [directive]));

/** Directives of the process, which have no counterpart in an API. */
const processDirectives = new Set(
  (
    'user pid error_log access_log events include default_type sendfile types server_tokens log_format map load_module ' +
    'reset_timedout_connection'
  ).split(' '),
);
const isProcessDirective = (name: string) =>
  processDirectives.has(name) ||
  /^(worker_|tcp_|keepalive_|types_hash_|server_names_hash_|gzip|open_file_cache)/.test(name);

function listShared(plan: PlanBuilder, file: string, { name, line }: NginxDirective): void {
  if (name === 'include')
    plan.leaveOut(`${file}:${line}`, name, 'other files are not read through it: name their directory');
  else if (!isProcessDirective(name)) plan.leaveOut(`${file}:${line}`, name, 'it is not moved');
}

function readUpstreams(plan: PlanBuilder, files: readonly NginxFile[]): ReadonlyMap<string, readonly ProxiedTarget[]> {
  const upstreams = new Map<string, ProxiedTarget[]>();
  for (const { file, directives } of files)
    for (const { words, block } of directives.filter(it => it.name === 'upstream' && it.block)) {
      const targets: ProxiedTarget[] = [];
      for (const directive of block!) {
        const place = `${file}:${directive.line}`;
        const [address = '', ...options] = directive.words;
        if (directive.name !== 'server') plan.leaveOut(place, directive.name, 'targets are used in turn');
        else if (options.includes('down')) plan.leaveOut(place, `server ${address}`, 'it is down');
        else if (options.includes('backup'))
          plan.leaveOut(place, `server ${address}`, 'backup servers have no equivalent');
        else if (address.startsWith('unix:'))
          plan.leaveOut(place, `server ${address}`, 'sockets of the system are no upstreams');
        else {
          const weight = options.map(option => /^weight=(\d{1,5})$/.exec(option)?.[1]).find(Boolean);
          targets.push({ url: address, weight: Math.max(1, Number(weight ?? 1)) });
          for (const option of options)
            if (!option.startsWith('weight=')) plan.leaveOut(place, `server ${address} ${option}`, 'it is not moved');
        }
      }
      upstreams.set(words[0] ?? '', targets);
    }
  return upstreams;
}

function addServer(reader: NginxReader, server: readonly NginxDirective[], shared: readonly NginxDirective[]): void {
  const { plan, file } = reader;
  const own = server.filter(({ name }) => name !== 'location');
  const names = own.filter(({ name }) => name === 'server_name').flatMap(({ words }) => words);
  const domains = names.filter(name => {
    const isPlain = /^[A-Za-z0-9.-]+$/.test(name) && !name.startsWith('.');
    if (!isPlain && name !== '_' && name !== '')
      plan.leaveOut(file, `server_name ${name}`, 'patterns of names are not moved');
    return isPlain;
  });
  if (names.some(name => name !== '_' && name !== '') && domains.length === 0) {
    for (const { line } of server.filter(({ name }) => name === 'location'))
      plan.leaveOut(`${file}:${line}`, 'location', 'its server has no plain name');
    return;
  }
  for (const location of server.filter(({ name }) => name === 'location'))
    addLocation(reader, { location, inherited: [...shared, ...own], domains });
  for (const directive of own)
    if (!isServerDirective(directive.name))
      plan.leaveOut(`${file}:${directive.line}`, directive.name, describeServerDirective(directive));
}

/** Directives of a server that its locations inherit, or that describe the listener. */
const inheritedDirectives = new Set(
  (
    'listen server_name access_log error_log proxy_set_header proxy_hide_header add_header client_max_body_size allow ' +
    'deny auth_basic auth_basic_user_file auth_request auth_jwt satisfy ssl_verify_client ssl_client_certificate ' +
    'server_tokens charset'
  ).split(' '),
);
const isServerDirective = (name: string) => inheritedDirectives.has(name) || /^(gzip|keepalive_)/.test(name);

const describeServerDirective = ({ name }: NginxDirective) =>
  name.startsWith('ssl_') ? 'add the certificate with gw certs apply, and its id to the APIs' : 'it is not moved';

interface LocationInput {
  readonly location: NginxDirective;
  readonly inherited: readonly NginxDirective[];
  readonly domains: readonly string[];
}

const modifiers = ['=', '~', '~*', '^~'];

function addLocation(reader: NginxReader, { location, inherited, domains }: LocationInput): void {
  const { plan, file } = reader;
  const place = `${file}:${location.line}`;
  const [first = '', second] = location.words;
  const [modifier, path] = modifiers.includes(first) ? [first, second ?? ''] : ['', first];
  const what = `location ${location.words.join(' ')}`;
  const block = location.block ?? [];
  if (modifier === '~' || modifier === '~*')
    return plan.leaveOut(place, what, 'regular expressions are no listen paths');
  if (modifier === '=') return plan.leaveOut(place, what, 'it matches one path alone');
  if (!path.startsWith('/')) return plan.leaveOut(place, what, 'it is internal to nginx');
  if (block.some(({ name }) => name === 'location' || name === 'if' || name === 'limit_except'))
    return plan.leaveOut(place, what, 'it has blocks of its own');
  const pass = block.find(({ name }) => name === 'proxy_pass');
  if (!pass) return plan.leaveOut(place, what, 'it has no proxy_pass');
  const proxied = readProxyPass(reader, pass.words[0] ?? '');
  if (typeof proxied === 'string')
    return plan.leaveOut(`${file}:${pass.line}`, `proxy_pass ${pass.words[0] ?? ''}`, proxied);
  const applied = applyNginxDirectives(inherited, block);
  for (const { line, name, reason } of applied.leftOut) plan.leaveOut(`${file}:${line}`, name, reason);
  if (applied.blocked) return plan.leaveOut(`${file}:${applied.blocked.line}`, what, applied.blocked.reason);
  for (const domain of domains.length > 0 ? domains : ['']) addApi(plan, { place, domain, path, proxied, applied });
}

interface ApiInput {
  readonly place: string;
  readonly domain: string;
  readonly path: string;
  readonly proxied: Exclude<ReturnType<typeof readProxyPass>, string>;
  readonly applied: ReturnType<typeof applyNginxDirectives>;
}

function addApi(plan: PlanBuilder, { place, domain, path, proxied, applied }: ApiInput): void {
  const definition = toProxiedDefinition({
    name: `${domain}${path}`,
    listenPath: path,
    domain,
    stripListenPath: proxied.hasPath,
    preserveHost: applied.preserveHost,
    targets: proxied.targets,
    members: applied.members,
    version: applied.version,
  });
  const notes = path.endsWith('/')
    ? []
    : ['the listen path matches whole segments, not every path that begins with it'];
  plan.add({ kind: 'API', id: definition.api_id, source: place, body: definition, notes });
}

/** Targets of `proxy_pass`; a text is the reason for which it has none. With a path, it replaces that of the location. */
function readProxyPass({ upstreams }: NginxReader, text: string) {
  if (text.includes('$')) return 'variables are not moved';
  const [, scheme = '', host = '', path = ''] = /^(https?):\/\/([^/\s]+)(\/.*)?$/.exec(text) ?? [];
  if (scheme === '' || host.startsWith('unix:')) return 'it is no URL of HTTP';
  const named = upstreams.get(host);
  if (named?.length === 0) return `the upstream ${host} has no server`;
  const targets = (named ?? [{ url: host, weight: 1 }]).map(({ url, weight }) => ({
    url: `${scheme}://${url}${path || '/'}`,
    weight,
  }));
  return targets.every(({ url }) => URL.canParse(url)) ? { targets, hasPath: path !== '' } : 'it is no URL of HTTP';
}
