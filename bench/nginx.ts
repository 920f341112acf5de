import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subgraphLocations } from './federation.ts';
import { type MeasuredProcess, startPinned, waitForPort } from './processes.ts';

export const certificateFile = (directory: string): string => join(directory, 'certificate.pem');
export const keyFile = (directory: string): string => join(directory, 'key.pem');

/** Certificate of the loopback address, for the gateway, nginx as a proxy and the upstream. */
export function createCertificate(directory: string): void {
  const files = ['-keyout', keyFile(directory), '-out', certificateFile(directory)];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...files], { stdio: 'ignore' });
}

/** Ports of an nginx in clear text and with TLS. */
export interface NginxPorts {
  readonly plain: number;
  readonly tls: number;
}

/** Upstream of all scenarios: short and long static responses, a response to any POST, and a chunked one. */
export async function startUpstream(directory: string, ports: NginxPorts, cores: string): Promise<MeasuredProcess> {
  const root = join(directory, 'www');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'small'), '{"hello":"world"}');
  writeFileSync(join(root, 'big'), 'x'.repeat(100_000));
  // Server-side includes make a response without a length; a static file is then sent for a POST too.
  const chunked = `location /chunked { alias ${root}/small; ssi on; ssi_types *; error_page 405 =200 $uri; }`;
  const locations = `location / { root ${root}; default_type application/json; } location /post { client_max_body_size 1m; return 200 "ok"; } ${chunked} ${subgraphLocations()}`;
  return start(directory, 'upstream', ports.plain, cores, [
    `listen 127.0.0.1:${ports.plain} backlog=4096; ${locations}`,
    `listen 127.0.0.1:${ports.tls} ssl backlog=4096; ${locations}`,
  ]);
}

/** nginx as a proxy in front of the upstream: the baseline of every run. */
export const startProxy = (
  directory: string,
  ports: NginxPorts,
  upstream: NginxPorts,
  cores: string,
): Promise<MeasuredProcess> => {
  const pool = (name: string, port: number) =>
    `upstream ${name} { server 127.0.0.1:${port}; keepalive 512; keepalive_requests 1000000; }`;
  const forward = (target: string) =>
    `location / { proxy_pass ${target}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_request_buffering off; }`;
  return start(
    directory,
    'proxy',
    ports.plain,
    cores,
    [
      `listen 127.0.0.1:${ports.plain} backlog=4096; ${forward('http://plain')}`,
      `listen 127.0.0.1:${ports.tls} ssl backlog=4096; ${forward('https://encrypted')}`,
    ],
    `${pool('plain', upstream.plain)} ${pool('encrypted', upstream.tls)}`,
  );
};

async function start(
  directory: string,
  name: string,
  port: number,
  cores: string,
  servers: readonly string[],
  before = '',
): Promise<MeasuredProcess> {
  const file = join(directory, `${name}.conf`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(kind => `${kind}_temp_path ${directory}/${name}-${kind};`)
    .join(' ');
  writeFileSync(
    file,
    // Worker processes of a master run by root change to another user, which cannot read the files.
    `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${directory}/${name}.pid; error_log /dev/null;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000; ${temporary} ${before}
ssl_certificate ${certificateFile(directory)}; ssl_certificate_key ${keyFile(directory)};
${servers.map(server => `server { ${server} }`).join('\n')} }`,
  );
  const nginx = startPinned(cores, 'nginx', ['-p', directory, '-c', file]);
  await waitForPort(port, nginx);
  return nginx;
}
