import { SettingError } from './settings-rows.ts';

const maxOrigins = 20;

/** Origins as browsers write them: each is a source of a Content-Security-Policy, so that it has no other characters. */
export function checkOrigins(items: readonly string[]): void {
  if (items.length > maxOrigins) throw new SettingError(`must have at most ${maxOrigins} origins`);
  for (const item of items) {
    const url = /^https?:\/\/[a-z0-9.[\]:-]+$/.test(item) ? URL.parse(item) : null;
    if (url?.origin !== item) throw new SettingError(`must be origins such as https://www.example.org, not ${item}`);
  }
}

/** RFC 9309, section 2.2: a line is empty, a comment, or a name, a colon and a value. */
const robotsLine = /^[ \t]*(?:#.*|[A-Za-z][A-Za-z-]*[ \t]*:.*)?$/;
const hasControl = (line: string) => /[^\t\P{Cc}]/u.test(line);

/** Says what is wrong with a robots.txt; undefined for nothing. */
export function findRobotsFault(text: string): string | undefined {
  const at = text.split('\n').findIndex(line => hasControl(line) || !robotsLine.test(line));
  return at < 0 ? undefined : `line ${at + 1} must be a rule such as "Disallow: /drafts", a comment (#) or empty`;
}
