import { isZip } from '#base/zip.ts';
import { decodeText, readBody } from '#operations/body.ts';
import { fetchDocumentFile, type PlainDocumentServices } from '../oas/plain-document.ts';
import { type ConvertedText, convertParsed, convertText } from './convert-text.ts';
import type { ConvertFormat } from './formats.ts';
import { problem } from './problems.ts';

/** Where a description comes from: exactly one of the members. */
export interface DescriptionSource {
  readonly format: ConvertFormat;
  readonly text?: string | undefined;
  readonly url?: string | undefined;
  /** ZIP archive in base64. */
  readonly archive?: string | undefined;
}

/** Converts a description: a text, what an address serves, or the files of a ZIP archive. */
export async function convertSource(
  { format, text, url, archive }: DescriptionSource,
  orgId: string,
  services: PlainDocumentServices,
): Promise<ConvertedText> {
  if ([text, url, archive].filter(source => source !== undefined).length !== 1) throw problem.source_unclear();
  const maxBytes = services.settings['management.max_body_bytes'];
  if (text !== undefined) return convertText({ format, text, maxBytes });
  if (url !== undefined) return convertFile((await fetchDocumentFile(url, orgId, services)).bytes, format, maxBytes);
  const bytes = Buffer.from(archive!, 'base64');
  if (!isZip(bytes)) throw problem.archive_invalid();
  return convertFile(bytes, format, maxBytes);
}

/** A file as it was sent or fetched. References between the files of an archive stay inside of it. */
async function convertFile(bytes: Buffer, format: ConvertFormat, maxBytes: number): Promise<ConvertedText> {
  if (!isZip(bytes)) return convertText({ format, text: decodeText(bytes), maxBytes });
  if (format !== 'auto' && format !== 'openapi' && format !== 'swagger') throw problem.archive_format();
  return convertParsed(format, await readBody('document', bytes, { contentType: undefined, maxBytes }));
}
