/** Past participles that do not end in -ed. Verbs whose participle is also their base form (read, set, put, cut) are left out. */
const irregular = new Set(
  (
    'begun been bent bitten bought bound broken brought built burnt caught chosen done drawn driven eaten fallen felt ' +
    'found forgotten given gone grown heard held hidden kept known laid learnt led left lent lost made meant met paid ' +
    'proven said seen sent shown sold sought spent spoken spelt stood stolen sworn swept taken taught thought thrown ' +
    'told torn understood unmade untold unsent unseen unknown withheld woven won worn written rewritten unwritten ' +
    'respelt rebuilt resent retaken'
  ).split(' '),
);

/** Words that end in -ed and are verbs or nouns. */
const notParticiples = new Set(
  'bleed embed exceed feed heed need proceed seed shed speed succeed red bed led sled'.split(' '),
);

/** The words of an identifier: `readJsonBody` is read, json, body. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/^[_$#]+/, '')
    .split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_/)
    .map(word => word.toLowerCase());

/** Whether a function has a past participle where its verb belongs. */
export function startsWithParticiple(name: string): boolean {
  const [first = ''] = wordsOf(name);
  return irregular.has(first) || (/[a-z]{2}ed$/.test(first) && !notParticiples.has(first));
}
