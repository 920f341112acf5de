import { request } from 'node:http';

/** Sends a request with the path and header names unchanged; returns the status. */
export function rawRequest(url: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<number> {
  const [, host = '', port = '', path = ''] = /^http:\/\/([^:/]+):(\d+)(.*)$/.exec(url) ?? [];
  return new Promise((resolve, reject) => {
    const sending = request({ host, port, path: path || '/', method, headers: { ...headers } }, response => {
      response.resume();
      response.once('end', () => resolve(response.statusCode!));
    });
    sending.once('error', reject);
    sending.end();
  });
}
