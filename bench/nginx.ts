import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listening, type Measured, startPinned } from './processes.ts';

/** The upstream everything is measured against: short and long static answers, and any POST. */
export async function startUpstream(directory: string, port: number, cores: string): Promise<Measured> {
  const root = join(directory, 'www');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'small'), '{"hello":"world"}');
  writeFileSync(join(root, 'big'), 'x'.repeat(100_000));
  return start(
    directory,
    'upstream',
    port,
    cores,
    `location / { root ${root}; default_type application/json; } location /post { client_max_body_size 1m; return 200 "ok"; }`,
  );
}

/** nginx as a proxy in front of it: the yardstick of every run. */
export const startProxy = (directory: string, port: number, upstreamPort: number, cores: string): Promise<Measured> =>
  start(
    directory,
    'proxy',
    port,
    cores,
    `location / { proxy_pass http://upstream; proxy_http_version 1.1; proxy_set_header Connection ""; }`,
    `upstream upstream { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 1000000; }`,
  );

async function start(
  directory: string,
  name: string,
  port: number,
  cores: string,
  locations: string,
  before = '',
): Promise<Measured> {
  const file = join(directory, `${name}.conf`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(kind => `${kind}_temp_path ${directory}/${name}-${kind};`)
    .join(' ');
  writeFileSync(
    file,
    // The files belong to whoever runs the bench; as root, nginx would give up its right to read them.
    `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${directory}/${name}.pid; error_log /dev/null;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000; ${temporary} ${before}
server { listen 127.0.0.1:${port} backlog=4096; ${locations} } }`,
  );
  const nginx = startPinned(cores, 'nginx', ['-p', directory, '-c', file]);
  await listening(port, nginx);
  return nginx;
}
