import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { settingNames, toEnvironmentName, toFlagName } from '#base/settings.ts';
import { settingsTable } from '#base/settings-table.ts';
import { lintRules } from '#definition/lint-rules.ts';
import { notEnforced } from '#definition/not-enforced.ts';
import { listReferenceRows } from '#definition/reference-rows.ts';
import { refusals } from '#gateway/pipeline/refusals.ts';
import { type AnyOperation, listPermissions } from '#operations/operation.ts';
import { type SurfaceName, surfaces } from '#operations/surfaces.ts';
import { catalogue } from '../src/catalogue.ts';
import { findOperationTests } from './operation-tests.ts';

/** Generates the reference pages from the declarations. `npm run docs` writes them; a test compares them. */
export function generateDocs(): Record<string, string> {
  return {
    'docs/reference/settings.md': settingsPage(),
    'docs/reference/operations.md': operationsPage(catalogue as readonly AnyOperation[]),
    'docs/reference/coverage.md': coveragePage(catalogue as readonly AnyOperation[]),
    'docs/reference/refusals.md': refusalsPage(),
    'docs/reference/definition.md': definitionPage(),
    'docs/reference/not-enforced.md': notEnforcedPage(),
    'docs/reference/lint.md': lintPage(),
  };
}

const cell = (value: unknown) => String(value).replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (...cells: unknown[]) => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: string[], rows: string[]) => [row(...head), row(...head.map(() => '---')), ...rows].join('\n');

function settingsPage(): string {
  const rows = settingNames.map(name => {
    const { rule, default: fallback, about, secret } = settingsTable[name];
    const shown = secret || JSON.stringify(fallback) === '""' ? '' : `\`${JSON.stringify(fallback)}\``;
    return row(
      `\`${name}\``,
      `\`${toEnvironmentName(name)}\``,
      `\`${toFlagName(name)}\``,
      rule,
      shown,
      about + (secret ? ' Secret.' : ''),
    );
  });
  return `# Settings

Defaults < \`gw.yaml\` (or the file named by \`--config\`, YAML or JSON) < environment < flags: the later ones win.
In a file, dots may be nesting: \`gateway.port\` is \`port\` under \`gateway\`. An unknown name is refused.
\`gw config\` prints the settings in force with secrets masked. This page is generated.

${table(['Name', 'Environment', 'Flag', 'Value', 'Default', 'Meaning'], rows)}
`;
}

function refusalsPage(): string {
  const lines = Object.entries(refusals).map(([code, { status, message, event, about }]) =>
    row(`\`${code}\``, status, message, event ?? '', about),
  );
  return `# Refusals

Error responses of the gateway itself on the traffic path. Analytics records and the output of \`POST /gw/debug\` contain the
code; the client receives status and message. This page is generated.

${table(['Code', 'Status', 'Message', 'Event', 'Meaning'], lines)}
`;
}

/** Formats a default: nothing for an absent one, JSON for objects and lists. */
const formatDefault = (value: unknown): string | number | boolean =>
  typeof value === 'object' && value !== null ? `\`${JSON.stringify(value)}\`` : ((value ?? '') as string);

function definitionPage(): string {
  const parts = [...Map.groupBy(listReferenceRows(), it => it.facet)].map(([facet, fields]) => {
    const lines = fields.map(it =>
      row(
        it.field,
        it.classic ? `\`${it.classic}\`` : '',
        it.oas ? `\`${it.oas}\`` : '',
        it.rule,
        formatDefault(it.default),
        it.about,
      ),
    );
    return `## ${facet}\n\n${fields[0]!.facetAbout}\n\n${table(['Field', 'Classic', 'OpenAPI format', 'Value', 'Default', 'Meaning'], lines)}\n`;
  });
  return `# API definitions

Every field of both formats: its location in a classic definition and in the \`x-gw-api-gateway\` extension of an OpenAPI document.
This page is generated.

${parts.join('\n')}`;
}

function notEnforcedPage(): string {
  const lines = notEnforced.map(({ facet, fields, why }) =>
    row(facet, fields ? fields.map(field => `\`${field}\``).join(', ') : 'all', why),
  );
  return `# Not enforced

Fields of a definition that are stored and returned without an effect in the gateway. Every other field of
[the reference](definition.md) has a test of its effect. This page is generated.

${table(['Facet', 'Fields', 'Why'], lines)}
`;
}

function lintPage(): string {
  const lines = lintRules.map(({ name, level, about, place }) =>
    row(`\`${name}\``, level, about, `\`${place.classic}\``, `\`${place.oas}\``),
  );
  return `# Lint rules

Warnings of \`POST /api/apis/check\` about definitions that are valid and probably not meant so. Four more rules
have no place of their own: \`member_without_effect\` (a legacy member, or an unknown one that the settings let pass),
\`persisted_operation_invalid\` (an operation of \`persist_graphql\` that is no GraphQL, or not of the schema), \`persisted_operations_unchecked\`
(more of them than a check reads) and
\`feature_not_offered\` (requests to the API get 503). This page is generated.

${table(['Rule', 'Level', 'Meaning', 'Classic', 'OpenAPI format'], lines)}
`;
}

function operationsPage(operations: readonly AnyOperation[]): string {
  const parts = (Object.keys(surfaces) as SurfaceName[]).map(name => {
    const own = operations.filter(it => it.surface === name);
    const { title, about, credentialHeader, prefix } = surfaces[name];
    const intro = `${about} Credential in the header \`${credentialHeader}\`; machine-readable at \`${prefix}/openapi.json\`.`;
    return `## ${title}\n\n${intro}\n\n${own.map(operationPart).join('\n')}`;
  });
  return `# Operations\n\nEvery management operation. This page is generated.\n\n${parts.join('\n')}`;
}

function coveragePage(operations: readonly AnyOperation[]): string {
  const tests = findOperationTests(resolve(import.meta.dirname, '..'), operations);
  const parts = (Object.keys(surfaces) as SurfaceName[]).map(name => {
    const lines = operations
      .filter(it => it.surface === name)
      .map(it => row(`\`${it.method} ${it.path}\``, it.name, formatTests(tests.get(it.name)!)));
    return `## ${surfaces[name].title}\n\n${table(['Operation', 'Name', 'Tests'], lines)}\n`;
  });
  return `# Tests of operations

The test files in which the route of each management operation occurs. Beside them, the walks in \`tests/contract\` send every operation: no and wrong credentials, every level of permission, ids of another organisation, unknown ids,
malformed, empty, oversized, deeply nested, wrongly typed and misspelt bodies. This page is generated; a test fails for an operation whose route occurs in no test file.

${parts.join('\n')}`;
}

/** Test files named per operation; the others are counted. */
const maxTestsNamed = 3;

function formatTests(files: readonly string[]): string {
  const own = files.filter(file => file.startsWith('src/'));
  const named = [...own, ...files.filter(file => !file.startsWith('src/'))].slice(0, maxTestsNamed);
  const more = files.length > named.length ? ` and ${files.length - named.length} more` : '';
  return named.map(file => `\`${file}\``).join(', ') + more;
}

function operationPart(it: AnyOperation): string {
  const query = it.query ? membersOf(it.query) : [];
  const failures = (it.problems ?? []).map(({ status, message }) => `${status} “${message}”`);
  const lines = [
    `### ${it.method} ${it.path}`,
    '',
    `${it.about} Permission: ${listPermissions(it).join(' and ')}.`,
    ...(query.length > 0 ? ['', `Query: ${query.map(name => `\`${name}\``).join(', ')}.`] : []),
    ...(failures.length > 0 ? ['', `Can fail with ${failures.join(', ')}.`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function membersOf(shape: z.ZodType): string[] {
  const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return Object.keys(schema.properties ?? {});
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, '..');
  for (const [path, content] of Object.entries(generateDocs())) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
