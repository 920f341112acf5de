import { closestMatch } from '#base/closest-match.ts';
import { parseUniqueJson } from '#base/json.ts';
import { checkMembers, formatUnknownMember } from '#base/members.ts';
import { Problem } from '#base/problems.ts';
import { openZip } from '#base/zip.ts';
import { formatValidationError, listValidationErrors, validate } from '#operations/validation-error.ts';
import { problem } from '../problems.ts';
import { findFileFault } from './files.ts';
import { manifestName, ThemeManifest, themeBounds } from './schema.ts';
import { compileThemeTemplates } from './templates.ts';

/** Contents of the archive of a theme, by path. */
export interface ThemeArchive {
  readonly manifest: ThemeManifest;
  readonly files: ReadonlyMap<string, Buffer>;
}

const createRefusal = (reason: string, cause?: unknown) => problem.theme_refused({ detail: { reason }, cause });

/** Opens an archive: sizes, paths and links are checked by the reader of ZIP archives before anything is inflated. */
export function openThemeArchive(bytes: Buffer): ThemeArchive {
  const { maxFiles, maxTotalBytes } = themeBounds;
  const archive = openZip(bytes, { maxFiles, maxTotalBytes });
  const files = new Map<string, Buffer>();
  for (const name of archive.names) files.set(name, archive.read(name)!);
  return { manifest: parseManifest(files), files };
}

/** Checks everything that an upload may have; a theme that passes renders, or falls back to the pages of the product. */
export function checkThemeArchive(bytes: Buffer): ThemeArchive {
  const theme = openThemeArchive(bytes);
  const { manifest, files } = theme;
  for (const [path, content] of files) {
    if (path === manifestName) continue;
    if (content.length > themeBounds.maxFileBytes)
      throw createRefusal(`${path} has more than ${themeBounds.maxFileBytes} bytes`);
    const fault = findFileFault(path, content);
    if (fault !== undefined) throw createRefusal(`${path} ${fault}`);
  }
  const referenced = [manifest.logo, manifest.icon, ...manifest.styles].filter(path => path !== undefined);
  for (const path of referenced) requireFile(path, files);
  refuseRepeated(manifest.templates.map(({ name }) => name));
  compileThemeTemplates(theme, path => path);
  return theme;
}

function parseManifest(files: ReadonlyMap<string, Buffer>): ThemeManifest {
  const content = files.get(manifestName);
  if (!content) {
    const nested = [...files.keys()].find(path => path.endsWith(`/${manifestName}`));
    throw createRefusal(
      nested === undefined ? `has no ${manifestName}` : `has ${nested}: ${manifestName} must be at the root`,
    );
  }
  try {
    const raw = parseUniqueJson(new TextDecoder('utf-8', { fatal: true }).decode(content));
    const { unknown } = checkMembers(ThemeManifest, raw);
    if (unknown[0]) throw createRefusal(`${manifestName}: ${unknown[0].path}: ${formatUnknownMember(unknown[0])}`);
    return validate(ThemeManifest, raw);
  } catch (cause) {
    if (cause instanceof TypeError) throw createRefusal(`${manifestName} is not UTF-8 text`, cause);
    if (!(cause instanceof Problem) || cause.code === problem.theme_refused.code) throw cause;
    const faults = listValidationErrors(cause)?.map(formatValidationError).join('; ') ?? cause.message;
    throw createRefusal(`${manifestName}: ${faults}`, cause);
  }
}

function requireFile(path: string, files: ReadonlyMap<string, Buffer>): void {
  if (files.has(path)) return;
  const nearest = closestMatch(path, [...files.keys()]);
  const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  throw createRefusal(`${manifestName} names ${path}, which the archive does not have${guess}`);
}

function refuseRepeated(names: readonly string[]): void {
  const repeated = names.find((name, place) => names.indexOf(name) !== place);
  if (repeated !== undefined) throw createRefusal(`${manifestName} has the template ${repeated} twice`);
}
