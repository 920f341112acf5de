/**
 * Declared problems of operations that no test can bring about, by the reason: a problem and the operations that declare
 * it. The number of pairs only falls.
 */
const exceptions: Readonly<Record<string, string>> = {
  'Only for an object that another request changes between a check and the write.': `
    certificates.already_exists: restoreCertificateRevision
    people.user_not_found: markNotifications muteNotifications updatePreferences
    policies.exists: restorePolicyRevision updateGatewayPolicy updatePolicy
  `,
  'Only for a definition that passes every check and cannot be compiled: none is known.': `
    debug.chain_not_built: debugDefinition
  `,
};

export const maxUnreachedProblems = 8;

/** Pairs as `reached-problems.ts` names them, by the reason. */
export const unreachedProblems: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(exceptions).map(([reason, text]) => [reason, parsePairs(text)]),
);

function parsePairs(text: string): string[] {
  let code = '';
  return text.split(/\s+/).flatMap(word => {
    if (word.endsWith(':')) code = word.slice(0, -1);
    return word === '' || word.endsWith(':') ? [] : [`${word} ${code}`];
  });
}
