/** Samples of one request in seven languages. Values are literals of the language: a document cannot end them. */
export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Empty without a body. */
  readonly body: string;
}

/** JSON strings are literals of JavaScript, Python, Java, C# and Go; line separators of Unicode are escaped. */
const toLiteral = (text: string) =>
  JSON.stringify(text).replaceAll(/[\u2028\u2029]/g, it => `\\u${it.charCodeAt(0).toString(16)}`);
/** Single quotes of a POSIX shell. */
const toShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const toPhp = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const lines = (...parts: readonly (string | readonly string[])[]) => parts.flat().join('\n');

export const formatCurlSample = ({ method, url, headers, body }: SampleRequest) =>
  [
    `curl -X ${method} ${toShell(url)}`,
    // The shell replaces the variable: these quotes are double.
    ...headers.map(([name, value]) =>
      value === keyText || value === `Bearer ${keyText}`
        ? `-H "${name}: ${value}"`
        : `-H ${toShell(`${name}: ${value}`)}`,
    ),
    ...(body ? [`-d ${toShell(body)}`] : []),
  ].join(' \\\n  ');

/** Placeholder of a credential. */
export const keyText = '$API_KEY';

const toJavaScript = ({ method, url, headers, body }: SampleRequest) =>
  lines(
    `const response = await fetch(${toLiteral(url)}, {`,
    `  method: ${toLiteral(method)},`,
    headers.length > 0
      ? ['  headers: {', ...headers.map(([n, v]) => `    ${toLiteral(n)}: ${toLiteral(v)},`), '  },']
      : [],
    body ? [`  body: ${toLiteral(body)},`] : [],
    '});',
    'const text = await response.text();',
  );

const toPython = ({ method, url, headers, body }: SampleRequest) =>
  lines(
    'import requests',
    '',
    'response = requests.request(',
    `    ${toLiteral(method)},`,
    `    ${toLiteral(url)},`,
    headers.length > 0
      ? ['    headers={', ...headers.map(([n, v]) => `        ${toLiteral(n)}: ${toLiteral(v)},`), '    },']
      : [],
    body ? [`    data=${toLiteral(body)},`] : [],
    ')',
    'print(response.status_code, response.text)',
  );

const toGo = ({ method, url, headers, body }: SampleRequest) =>
  lines(
    'package main',
    '',
    'import (',
    '\t"fmt"',
    '\t"io"',
    '\t"net/http"',
    body ? ['\t"strings"'] : [],
    ')',
    '',
    'func main() {',
    `\tbody := ${body ? `strings.NewReader(${toLiteral(body)})` : 'http.NoBody'}`,
    `\trequest, err := http.NewRequest(${toLiteral(method)}, ${toLiteral(url)}, body)`,
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    headers.map(([n, v]) => `\trequest.Header.Set(${toLiteral(n)}, ${toLiteral(v)})`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {',
    '\t\tpanic(err)',
    '\t}',
    '\tdefer response.Body.Close()',
    '\ttext, _ := io.ReadAll(response.Body)',
    '\tfmt.Println(response.StatusCode, string(text))',
    '}',
  );

const toJava = ({ method, url, headers, body }: SampleRequest) =>
  lines(
    'import java.net.URI;',
    'import java.net.http.*;',
    '',
    `var request = HttpRequest.newBuilder(URI.create(${toLiteral(url)}))`,
    headers.map(([n, v]) => `    .header(${toLiteral(n)}, ${toLiteral(v)})`),
    `    .method(${toLiteral(method)}, HttpRequest.BodyPublishers.${body ? `ofString(${toLiteral(body)})` : 'noBody()'})`,
    '    .build();',
    'var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    'System.out.println(response.statusCode() + " " + response.body());',
  );

const isContentHeader = (name: string) => name.toLowerCase() === 'content-type';

const toCsharp = ({ method, url, headers, body }: SampleRequest) =>
  lines(
    'using var client = new HttpClient();',
    `using var request = new HttpRequestMessage(new HttpMethod(${toLiteral(method)}), ${toLiteral(url)});`,
    headers
      .filter(([name]) => !isContentHeader(name))
      .map(([n, v]) => `request.Headers.TryAddWithoutValidation(${toLiteral(n)}, ${toLiteral(v)});`),
    body
      ? [
          `request.Content = new StringContent(${toLiteral(body)}, System.Text.Encoding.UTF8, ` +
            `${toLiteral(headers.find(([name]) => isContentHeader(name))?.[1] ?? 'text/plain')});`,
        ]
      : [],
    'var response = await client.SendAsync(request);',
    'Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");',
  );

const toPhpSource = ({ method, url, headers, body }: SampleRequest) =>
  lines(
    '<?php',
    `$request = curl_init(${toPhp(url)});`,
    `curl_setopt($request, CURLOPT_CUSTOMREQUEST, ${toPhp(method)});`,
    'curl_setopt($request, CURLOPT_RETURNTRANSFER, true);',
    headers.length > 0
      ? [`curl_setopt($request, CURLOPT_HTTPHEADER, [${headers.map(([n, v]) => toPhp(`${n}: ${v}`)).join(', ')}]);`]
      : [],
    body ? [`curl_setopt($request, CURLOPT_POSTFIELDS, ${toPhp(body)});`] : [],
    'echo curl_exec($request);',
  );

/** Samples by the name of their language. */
export const sampleLanguages: readonly (readonly [name: string, format: (request: SampleRequest) => string])[] = [
  ['cURL', formatCurlSample],
  ['JavaScript', toJavaScript],
  ['Python', toPython],
  ['Go', toGo],
  ['Java', toJava],
  ['C#', toCsharp],
  ['PHP', toPhpSource],
];
