import { problems } from '#base/problems.ts';

/** Problems of a conversion, each with its reason. */
export const problem = problems('convert', {
  format_unknown: {
    status: 400,
    message: 'format: the format of the text is not recognised: set format to {known}',
  },
  format_unsupported: { status: 400, message: 'format: {format} is not supported: {advice}' },
  source_unclear: { status: 400, message: 'text, url, archive: exactly one of them is required' },
  archive_invalid: { status: 400, message: 'archive: must be a ZIP archive in base64' },
  archive_format: { status: 400, message: 'format: a ZIP archive holds an OpenAPI or Swagger document: use auto' },
  text_invalid: { status: 400, message: 'text: {reason}' },
});

/** Rejects a text that is not in its format. */
export const createTextProblem = (reason: string, cause?: unknown) =>
  problem.text_invalid({ detail: { reason }, cause });

/** Rejects a version of a format. A value that is no text is shown as JSON: a document may hold anything there. */
export function createUnsupportedVersion(format: string, version: unknown, supported: string) {
  const text = typeof version === 'string' ? version : JSON.stringify(version);
  return createTextProblem(`${format} ${text?.slice(0, 20)} is not supported: use ${supported}`);
}
