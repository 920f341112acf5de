import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { readFileStamp } from './file-stamp.ts';

/** Paths of PEM files; empty for none. Certificate and key are both set, or neither. */
export interface CertificatePaths {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Authorities of client certificates. */
  readonly clientCaFile?: string | undefined;
}

export interface CertificateFilesOptions extends CertificatePaths {
  /** Error for files that cannot be used. */
  readonly toProblem: (reason: string) => Error;
  /** Receives the error of changed files that cannot be used; the earlier ones stay in use. */
  readonly onReloadError: (error: Error) => void;
  /** Changed files are in use. */
  readonly onReload?: () => void;
}

/** Contents of the files, a new object after each change. */
export interface CertificateContents {
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly ca?: Buffer;
}

export interface CertificateFiles {
  current(): CertificateContents;
  /** Reads the files again if one of them has changed. */
  refresh(): void;
  /** The certificate in use, and the reason why changed files are not; undefined without files. */
  describe(): CertificateFileState | undefined;
}

export interface CertificateFileState {
  readonly path: string;
  readonly certificate: X509Certificate;
  /** Empty where the files are in use as they are. */
  readonly failure: string;
}

/** Certificate, key and authorities of a TLS server in files, which may be replaced while it runs. */
export function createCertificateFiles(options: CertificateFilesOptions): CertificateFiles {
  let stamp = readStamp(options);
  let contents = readContents(options);
  let failure = '';
  return {
    current: () => contents,
    describe: () =>
      contents.cert && { path: options.certificateFile, certificate: new X509Certificate(contents.cert), failure },
    refresh() {
      const now = readStamp(options);
      if (now === stamp) return;
      stamp = now;
      try {
        contents = readContents(options);
      } catch (error) {
        failure = (error as Error).message;
        // Perhaps only one file is written yet: the other one changes the stamp again.
        return options.onReloadError(error as Error);
      }
      failure = '';
      options.onReload?.();
    },
  };
}

const listPaths = ({ certificateFile, keyFile, clientCaFile = '' }: CertificatePaths) =>
  [certificateFile, keyFile, clientCaFile].filter(path => path !== '');

function readContents(options: CertificateFilesOptions): CertificateContents {
  const { certificateFile, keyFile, clientCaFile = '' } = options;
  if (certificateFile === '') return {};
  try {
    const contents = {
      cert: readFileSync(certificateFile),
      key: readFileSync(keyFile),
      ...(clientCaFile === '' ? undefined : { ca: readFileSync(clientCaFile) }),
    };
    // Detects a mismatched pair now instead of at the next handshake.
    createSecureContext(contents);
    // A file without a certificate would be accepted there, and no client.
    if (contents.ca) new X509Certificate(contents.ca);
    return contents;
  } catch (error) {
    throw options.toProblem((error as Error).message);
  }
}

/** Changes when one of the files changes. */
const readStamp = (paths: CertificatePaths): string => listPaths(paths).map(readFileStamp).join(' ');
