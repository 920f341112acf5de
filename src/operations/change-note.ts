import type { IncomingHttpHeaders } from 'node:http';
import { problem } from './problems.ts';

/** Header of a write that says why the change is made; the revision stores it. */
export const changeNoteHeader = 'x-gw-change-note';
export const changeNoteAbout =
  'Why the change is made, percent-encoded UTF-8 of at most 500 characters: the revision stores it as its note';

const maxNoteLength = 500;

/** Note of a request; undefined where it has none. Fields hold ASCII only (RFC 9110, 5.5): the text is encoded. */
export function readChangeNote(headers: IncomingHttpHeaders): string | undefined {
  const given = headers[changeNoteHeader];
  if (given === undefined) return undefined;
  const note = decodeNote(String(given)).trim();
  if (note.length > maxNoteLength || /\p{Cc}/u.test(note)) throw problem.change_note_invalid();
  return note === '' ? undefined : note;
}

function decodeNote(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw problem.change_note_invalid({ cause });
  }
}
