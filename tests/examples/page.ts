import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, type Example, fileOf, folder, formats, readExample } from './example.ts';
import { groups } from './list.ts';

/**
 * `examples/README.md`, made from the examples and from the calls that tests make of them. `node tests/examples/page.ts`
 * writes it.
 */
const head = `# Examples

Complete API definitions, each in the classic format, in the OpenAPI format, or in both. \`tests/examples.test.ts\` publishes and calls every one of them, and this page is generated from it.

With Gatewright running and any HTTP server on port 9000 as the upstream, publish with \`curl\`, in the folder above this one:

\`\`\`sh
: "\${CONTROL:=http://127.0.0.1:3000}" "\${GATEWAY:=http://127.0.0.1:8080}" "\${DATA:=./data}"
secret=$(node -p "JSON.parse(fs.readFileSync('$DATA/credentials.json')).gateway_secret")
control() { curl -sS -H "X-Gw-Authorization: $secret" "$CONTROL$@"; }

control /gw/apis --data-binary @examples/keyless.json
# → {"key":"weather","status":"ok","action":"added"}
control /gw/apis/oas -H 'Content-Type: application/yaml' --data-binary @examples/cors.oas.yaml
# → {"key":"maps","status":"ok","action":"added"}
control /gw/apis/maps/status
# → {"api_id":"maps","served":true,"reason":""}
\`\`\`

or with \`gw\`:

\`\`\`sh
export GW_URL="$CONTROL" GW_SECRET="$secret"
bin/gw apis apply -f examples/headers.oas.yaml
# → API hotels added
bin/gw apis rm hotels maps weather
# → API hotels deleted
\`\`\`

Both formats of an example are the same API, with the same id and listen path: publish one of them. The status says why an API is not served: which certificate, policy or secret is missing.

| Placeholder | Means |
|---|---|
| \`127.0.0.1:9000\`, \`:9001\`, \`localhost:9443\`, \`tcp://127.0.0.1:9200\` | your upstreams |
| \`127.0.0.1:9100\` | your token issuer, registry, webhook receiver |
| \`9300\`, \`9301\` | ports in the setting \`gateway.extra_ports\`; \`gateway.tls.certificate_file\` and \`key_file\` are needed for TLS |
| \`ID-OF-…\` | the id that \`POST /gw/certs\` returned |
| \`REPLACE-WITH-…\` | a secret |
| \`$KEY\` | the key that \`POST /gw/keys\` with \`{"access_rights": {"<api id>": {}}}\` returns |
| \`$CREDENTIALS\`, \`$TOKEN\`, \`$SIGNATURE\` | \`name:password\` in base64, a token, a signature |
`;

export function page(): string {
  const tables = Object.entries(groups).map(([title, group]) => {
    const rows = Object.entries(group).map(([name, example]) => rowOf(name, example));
    return `\n## ${title}\n\n| Example | Shows | Request |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return head + tables.join('');
}

export function describeExample(name: string, { shows }: Example): string {
  const file = fileOf(name, 'oas');
  return file ? String((readExample(file).info as { description: string }).description) : (shows ?? '');
}

const words = { classic: 'classic', oas: 'OpenAPI' };

function rowOf(name: string, example: Example): string {
  const links = formats.flatMap(format => {
    const file = fileOf(name, format);
    return file ? `[${words[format]}](${file})` : [];
  });
  const call = example.calls.find(({ status }) => status < 400) ?? example.calls[0];
  const command = example.command ?? curlOf(call!);
  return `| ${name}: ${links.join(', ')} | ${describeExample(name, example)} | \`${command.replaceAll('|', '\\|')}\` |`;
}

/** Texts that name something for the shell to fill in stand in double quotes. */
const quoteShell = (text: string) => (/\$[A-Z]/.test(text) ? `"${text}"` : `'${text}'`);
const shortenText = (text: string) => (/^(.)\1{20,}$/.test(text) ? `${text.slice(0, 3)}…` : text);

function curlOf({ ask, headers = {}, body, withCertificate }: Call): string {
  const [method = 'GET', address = ''] = ask.split(' ');
  const url = address.startsWith('/') ? `$GATEWAY${address}` : address;
  const usual = body === undefined ? 'GET' : 'POST';
  return [
    'curl',
    ...(method === usual ? [] : [`-X ${method}`]),
    ...(withCertificate ? ['-k --cert client.pem --key client.key'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d '${shortenText(body)}'`]),
    /[?&]/.test(url) ? `"${url}"` : url,
  ].join(' ');
}

if (import.meta.main) writeFileSync(join(folder, 'README.md'), page());
