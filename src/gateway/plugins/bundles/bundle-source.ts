import { readFileSync, realpathSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OutboundClient } from '#base/http-client/client.ts';
import { Problem } from '#base/problems.ts';
import { BundleError, maxBundleBytes } from './manifest.ts';

const downloadTimeoutMs = 5000;
const maxRedirects = 3;
const namePattern = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** Validators of the last response (RFC 9110, 13.1), or the stamp of a file. */
export interface BundleVersion {
  readonly etag: string;
  readonly lastModified: string;
}

export interface DownloadedBundle {
  /** Undefined where the bundle is unchanged. */
  readonly archive: Buffer | undefined;
  readonly version: BundleVersion;
}

/** URL of a bundle. Those of organisations other than the operator's are below their id. */
export function buildBundleUrl(baseUrl: string, folder: string, name: string): string {
  if (!namePattern.test(name)) throw new BundleError(`${JSON.stringify(name)} is not the name of a bundle`);
  const base = baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`;
  if (!URL.canParse(base) || !/^(?:https?|file):$/.test(new URL(base).protocol))
    throw new BundleError('plugins.bundles.base_url is not a URL of http, https or file');
  return base + (folder === '' ? '' : `${encodeURIComponent(folder)}/`) + name;
}

/** Reads a bundle by a conditional request, or from a directory. */
export async function downloadBundle(
  outbound: Pick<OutboundClient, 'fetch'>,
  url: string,
  known: BundleVersion | undefined,
): Promise<DownloadedBundle> {
  if (url.startsWith('file:')) return readBundleFile(url, known);
  const headers: Record<string, string> = {};
  if (known?.etag) headers['if-none-match'] = known.etag;
  else if (known?.lastModified) headers['if-modified-since'] = known.lastModified;
  try {
    const response = await outbound.fetch({
      url,
      headers,
      audience: 'operator',
      timeoutMs: downloadTimeoutMs,
      maxBytes: maxBundleBytes,
      maxRedirects,
    });
    if (response.status === 304 && known) return { archive: undefined, version: known };
    if (response.status !== 200) throw new BundleError(`the bundle server returned ${response.status}`);
    const [etag, lastModified] = [response.headers.etag, response.headers['last-modified']].map(readFirst);
    return { archive: response.body, version: { etag: etag!, lastModified: lastModified! } };
  } catch (error) {
    if (error instanceof Problem) throw new BundleError(`the bundle cannot be downloaded: ${error.message}`);
    throw error;
  }
}

const readFirst = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '');

function readBundleFile(url: string, known: BundleVersion | undefined): DownloadedBundle {
  try {
    const file = realpathSync(fileURLToPath(url));
    const { size, mtimeMs } = statSync(file);
    if (size > maxBundleBytes) throw new BundleError(`the bundle is larger than ${maxBundleBytes} bytes`);
    const version = { etag: `${file} ${mtimeMs} ${size}`, lastModified: '' };
    if (known?.etag === version.etag) return { archive: undefined, version };
    return { archive: readFileSync(file), version };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new BundleError(`the bundle cannot be read: ${code}`);
  }
}
