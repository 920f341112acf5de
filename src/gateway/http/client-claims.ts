/**
 * Client claims: headers in which a proxy asserts client address, certificate, user or original URL. From an
 * untrusted peer they are spoofed, and upstreams would trust them.
 */
const claimNames = [
  // The address of the client.
  ...['ali-cdn-real-ip', 'cdn-src-ip', 'cf-connecting-ip', 'cf-connecting-ipv6', 'cf-pseudo-ipv4', 'client-ip'],
  ...['cloudfront-viewer-address', 'fastly-client-ip', 'fly-client-ip', 'forwarded', 'forwarded-for', 'http-client-ip'],
  ...['incap-client-ip', 'proxy-client-ip', 'true-client-ip', 'wl-proxy-client-ip', 'x-appengine-remote-addr'],
  ...['x-appengine-user-ip', 'x-azure-clientip', 'x-azure-socketip', 'x-client-ip', 'x-client-real-ip'],
  ...['x-cluster-client-ip', 'x-coming-from', 'x-envoy-external-address', 'x-envoy-internal', 'x-forward-for'],
  ...['x-nf-client-connection-ip', 'x-original-forwarded-for', 'x-originating-ip', 'x-proxyuser-ip', 'x-real-ip'],
  ...['x-remote-addr', 'x-remote-ip', 'x-sucuri-clientip', 'x-vercel-forwarded-for'],
  // The original host, path and scheme.
  ...['cf-visitor', 'cloudfront-forwarded-proto', 'fastly-ssl', 'front-end-https', 'x-appengine-https', 'x-arr-ssl'],
  ...['x-envoy-original-host', 'x-envoy-original-path', 'x-host', 'x-http-host-override', 'x-original-host'],
  ...['x-original-uri', 'x-original-url', 'x-rewrite-url', 'x-scheme', 'x-url-scheme', 'x-waws-unencoded-url'],
  // The user, asserted unsigned by an authenticating proxy.
  ...['cf-access-authenticated-user-email', 'remote-user', 'x-amzn-oidc-identity', 'x-appengine-inbound-appid'],
  ...['x-authenticated-user', 'x-authenticated-userid', 'x-consumer-custom-id', 'x-consumer-id', 'x-consumer-username'],
  ...['x-credential-identifier', 'x-goog-authenticated-user-email', 'x-goog-authenticated-user-id', 'x-remote-email'],
  ...['x-remote-group', 'x-remote-groups', 'x-remote-name', 'x-remote-user', 'x-webauth-user'],
  // The client certificate (RFC 9440 and what came before it).
  ...['client-cert', 'client-cert-chain', 'wl-proxy-client-cert', 'x-arr-clientcert', 'x-client-dn', 'x-client-i-dn'],
  ...['x-client-s-dn', 'x-client-verify'],
];

const claimPrefixes = [
  ...['x-forwarded', 'x-ssl-', 'ssl-client-', 'x-client-cert', 'x-tls-client-', 'x-amzn-mtls-'],
  ...['x-auth-request-', 'x-ms-client-principal'],
];

/** Tests a header by its lower-case name with `-` for `_`. */
export type IsClientClaim = (name: string) => boolean;

/** `extra`: names, or prefixes that end in `*`, to add; with `!` in front to leave out. */
export function createClientClaims(extra: readonly string[]): IsClientClaim {
  const entries = extra.map(entry => entry.trim().toLowerCase().replaceAll('_', '-'));
  const added = entries.filter(entry => !entry.startsWith('!'));
  const passed = entries.filter(entry => entry.startsWith('!')).map(entry => entry.slice(1));
  const isPassed = createNameTest(passed);
  const names = new Set([...claimNames, ...added.filter(name => !name.endsWith('*'))].filter(name => !isPassed(name)));
  const prefixes = [...claimPrefixes, ...added.filter(name => name.endsWith('*')).map(name => name.slice(0, -1))];
  const mayBegin = createFirstLetterTest(prefixes);
  const hasPrefix = (name: string) => mayBegin(name) && startsWithAny(prefixes, name);
  if (passed.length === 0) return name => names.has(name) || hasPrefix(name);
  return name => names.has(name) || (hasPrefix(name) && !isPassed(name));
}

/** Most headers begin with a letter that no prefix begins with. */
function createFirstLetterTest(prefixes: readonly string[]): (name: string) => boolean {
  if (prefixes.includes('')) return () => true;
  const isFirst = new Uint8Array(256);
  for (const prefix of prefixes) isFirst[prefix.charCodeAt(0)] = 1;
  return name => isFirst[name.charCodeAt(0)] === 1;
}

function startsWithAny(prefixes: readonly string[], name: string): boolean {
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
  return false;
}

function createNameTest(entries: readonly string[]): (name: string) => boolean {
  const names = new Set(entries);
  const prefixes = entries.filter(name => name.endsWith('*')).map(name => name.slice(0, -1));
  return name => names.has(name) || startsWithAny(prefixes, name);
}
