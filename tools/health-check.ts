import { readFileSync } from 'node:fs';
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { join } from 'node:path';

/**
 * Health check of a container: exits with 0 if the process on the data directory is ready. Its addresses are those of
 * `listening.json`; the certificate of a listener is not verified, since the request contains nothing and stays on this
 * machine.
 */
const timeoutMs = 4000;

const { GW_DATA_DIR = './data', GW_GATEWAY_READY_NAME = 'ready' } = process.env;

function exit(code: 0 | 1, reason: string): void {
  (code === 0 ? process.stdout : process.stderr).write(`${reason}\n`);
  process.exitCode = code;
}

function findUrl(): string | undefined {
  const urls = JSON.parse(readFileSync(join(GW_DATA_DIR, 'listening.json'), 'utf8')) as Record<string, string>;
  if (urls.gateway) return `${urls.gateway}/${GW_GATEWAY_READY_NAME}`;
  const management = urls.dashboard ?? urls.portal;
  return management && `${management}/ready`;
}

try {
  const url = findUrl();
  if (url === undefined) exit(1, 'listening.json names no listener');
  else {
    const get = url.startsWith('https:') ? getHttps : getHttp;
    const request = get(url, { rejectUnauthorized: false, timeout: timeoutMs } as object, response => {
      response.resume();
      const { statusCode } = response;
      exit(statusCode === 200 ? 0 : 1, `${url} responded with ${statusCode}`);
    });
    request.on('timeout', () => request.destroy(new Error(`no response within ${timeoutMs} ms`)));
    request.on('error', error => exit(1, `${url}: ${error.message}`));
  }
} catch (error) {
  exit(1, `listening.json: ${(error as Error).message}`);
}
