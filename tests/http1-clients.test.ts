import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from 'undici';
import { startApp, type TestApp } from './support/app.ts';
import { openApi, publish } from './support/traffic.ts';
import { eventually } from './support/upstream.ts';

const run = promisify(execFile);

/** Path of a program of this machine; undefined without it. */
function findProgram(name: string): string | undefined {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

const go = findProgram('go');
const nginx = findProgram('nginx');
const python = findProgram('python3');
const curl = findProgram('curl');
const missing = (name: string, path: string | undefined) => (path ? {} : { skip: `${name} is not installed` });

/** The first build compiles Go's own packages. */
const goTestTimeoutMs = 600_000;

const large = 'abcdefgh'.repeat(40_000);

/** Answers of the upstream, by path. */
const upstreamServer = () =>
  createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = request.url!.slice(request.url!.lastIndexOf('/'));
    if (path === '/none') return void response.writeHead(204).end();
    if (path === '/large') return void response.end(large);
    if (path === '/chunks') {
      response.writeHead(200, { Trailer: 'X-Sum' });
      for (const part of ['one ', 'two ', 'three']) response.write(part);
      response.addTrailers({ 'X-Sum': '3' });
      return void response.end();
    }
    response.end(`${request.method} ${body.length} ${body.slice(0, 20)}`);
  });

const listen = async (server: ReturnType<typeof createTcpServer>): Promise<number> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** A port that was free a moment ago, for programs that cannot choose one themselves. */
async function findPort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  await new Promise(resolve => server.close(resolve));
  return port;
}

for (const engine of ['native', 'node'] as const)
  describe(`HTTP/1.1 clients and servers (${engine} engine)`, () => {
    const directory = mkdtempSync(join(tmpdir(), 'gw-clients-'));
    const server = upstreamServer();
    const stops: (() => Promise<unknown> | unknown)[] = [];
    let app: TestApp;
    let url = '';
    before(async () => {
      app = await startApp('sqlite', { settings: { 'gateway.http1_engine': engine } });
      url = await publish(app, openApi({ url: `http://127.0.0.1:${await listen(server)}` }));
    });
    after(async () => {
      for (const stop of stops.reverse()) await stop();
      await app?.close();
      server.closeAllConnections();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    });

    /** Starts a server program and waits until it accepts requests. */
    async function startProgram(program: string, args: readonly string[], port: number): Promise<string> {
      const child = spawn(program, args, { stdio: 'ignore' });
      const closed = new Promise(resolve => child.once('close', resolve));
      stops.push(() => {
        child.kill();
        return closed;
      });
      await eventually(async () => void (await fetch(`http://127.0.0.1:${port}/`)).body?.cancel());
      return `http://127.0.0.1:${port}`;
    }

    async function startNginx(locations: string): Promise<string> {
      const port = await findPort();
      const prefix = mkdtempSync(join(directory, 'nginx-'));
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map(kind => `${kind}_temp_path ${prefix}/${kind};`)
        .join(' ');
      writeFileSync(
        join(prefix, 'nginx.conf'),
        `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${prefix}/pid;
        error_log /dev/null; events {} http { access_log off; ${temporary}
        server { listen 127.0.0.1:${port}; ${locations} } }`,
      );
      return startProgram(nginx!, ['-p', prefix, '-c', join(prefix, 'nginx.conf')], port);
    }

    /** GET, POST by length and in chunks, no content and a large response, as any client sees them. */
    async function checkWithFetch(base: string): Promise<void> {
      const get = async (path: string, init: RequestInit = {}) => {
        const reply = await fetch(`${base}${path}`, init);
        return [reply.status, await reply.text()];
      };
      for (let i = 0; i < 3; i++) assert.deepEqual(await get('/a'), [200, 'GET 0 ']);
      assert.deepEqual(await get('/a', { method: 'POST', body: 'x'.repeat(100_000) }), [
        200,
        `POST 100000 ${'x'.repeat(20)}`,
      ]);
      const body = new Blob(['ab', 'cd']).stream();
      assert.deepEqual(await get('/a', { method: 'PUT', body, duplex: 'half' } as RequestInit), [200, 'PUT 4 abcd']);
      assert.deepEqual(await get('/none'), [204, '']);
      assert.deepEqual(await get('/large'), [200, large]);
      assert.deepEqual(await get('/chunks'), [200, 'one two three']);
      assert.equal((await fetch(`${base}/large`, { method: 'HEAD' })).status, 200);
    }

    test('fetch and undici', async () => {
      await checkWithFetch(url);
      const { origin, pathname } = new URL(url);
      const client = new Client(origin, { pipelining: 5 });
      const replies = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const { body, statusCode } = await client.request({ path: `${pathname}/${i}`, method: 'GET' });
          return [statusCode, await body.text()];
        }),
      );
      for (const reply of replies) assert.deepEqual(reply, [200, 'GET 0 ']);
      await client.close();
    });

    test('the client of Node gets trailers', async () => {
      const { promise, resolve, reject } = Promise.withResolvers<[string, NodeJS.Dict<string>]>();
      httpRequest(`${url}/chunks`, { headers: { te: 'trailers' } }, response => {
        let text = '';
        response.setEncoding('latin1').on('data', chunk => {
          text += chunk;
        });
        response.once('end', () => resolve([text, response.trailers]));
      })
        .once('error', reject)
        .end();
      assert.deepEqual(await promise, ['one two three', { 'x-sum': '3' }]);
    });

    test('curl', missing('curl', curl), async () => {
      const ask = async (...args: string[]) => (await run(curl!, ['-sS', '--max-time', '20', ...args])).stdout;
      assert.equal(await ask(`${url}/a`, `${url}/b`), 'GET 0 GET 0 ');
      assert.equal(await ask('-0', `${url}/a`), 'GET 0 ');
      assert.match(await ask('-I', `${url}/a`), /^HTTP\/1\.1 200 OK\r\n/);
      assert.equal(await ask('--data-binary', 'hello', `${url}/a`), 'POST 5 hello');
      assert.equal(await ask('-H', 'Transfer-Encoding: chunked', '--data-binary', 'hello', `${url}/a`), 'POST 5 hello');
      const file = join(directory, 'upload');
      writeFileSync(file, 'y'.repeat(2_000_000));
      const expecting = ['-H', 'Expect: 100-continue', '--expect100-timeout', '10'];
      assert.equal(await ask('-T', file, ...expecting, `${url}/a`), `PUT 2000000 ${'y'.repeat(20)}`);
      assert.equal(await ask(`${url}/large`), large);
      assert.equal(await ask('-o', '/dev/null', '-w', '%{num_connects} %{http_code}', `${url}/none`), '1 204');
    });

    test('http.client of Python', missing('Python', python), async () => {
      const { hostname, port, pathname } = new URL(url);
      const program = `
import http.client
c = http.client.HTTPConnection("${hostname}", ${port}, timeout=20)
def ask(method, path, body=None, headers={}, chunked=False):
    c.request(method, "${pathname}" + path, body=body, headers=headers, encode_chunked=chunked)
    r = c.getresponse()
    return r.status, r.read().decode()
assert ask("GET", "/a") == (200, "GET 0 ")
s = c.sock
assert ask("POST", "/a", b"hello") == (200, "POST 5 hello")
assert ask("POST", "/a", iter([b"ab", b"cd"]), {"Transfer-Encoding": "chunked"}, True) == (200, "POST 4 abcd")
assert ask("GET", "/none") == (204, "")
assert ask("HEAD", "/a")[0] == 200
assert ask("GET", "/chunks") == (200, "one two three")
assert len(ask("GET", "/large")[1]) == ${large.length}
assert c.sock is s, "the connection was not kept"
print("ok")`;
      assert.equal((await run(python!, ['-c', program])).stdout.trim(), 'ok');
    });

    test('http.server of Python as upstream', missing('Python', python), async () => {
      const port = await findPort();
      const program = `
from http.server import *
class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/%s"
    def do_GET(self):
        self.send_response(200)
        if self.protocol_version == "HTTP/1.1": self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")
    def do_POST(self):
        n = int(self.headers["Content-Length"])
        b = self.rfile.read(n)
        self.send_response(200)
        self.send_header("Content-Length", str(n))
        self.end_headers()
        self.wfile.write(b)
    def log_message(self, *a): pass
ThreadingHTTPServer(("127.0.0.1", %d), H).serve_forever()`;
      for (const [version, at] of [
        ['1.1', port],
        ['1.0', await findPort()],
      ] as const) {
        const text = program.replace('%s', version).replace('%d', String(at));
        const api = await publish(app, openApi({ url: await startProgram(python!, ['-c', text], at) }));
        for (let i = 0; i < 3; i++) assert.equal(await (await fetch(`${api}/x`)).text(), 'hello');
        const post = await fetch(`${api}/x`, { method: 'POST', body: 'z'.repeat(5000) });
        assert.equal((await post.text()).length, 5000);
      }
    });

    test('net/http of Go as client and as upstream', { ...missing('Go', go), timeout: goTestTimeoutMs }, async () => {
      const source = join(directory, 'program.go');
      const program = join(directory, 'program');
      writeFileSync(source, goProgram);
      await run(go!, ['build', '-o', program, source], {
        // Nothing is downloaded.
        env: { ...process.env, ...{ CGO_ENABLED: '0', GO111MODULE: 'off', GOTOOLCHAIN: 'local', GOPROXY: 'off' } },
      });
      assert.equal((await run(program, ['client', url])).stdout.trim(), 'ok');
      const port = await findPort();
      const api = await publish(
        app,
        openApi({ url: await startProgram(program, ['server', `127.0.0.1:${port}`], port) }),
      );
      for (let i = 0; i < 3; i++) assert.equal(await (await fetch(`${api}/x`)).text(), 'GET 0');
      const post = await fetch(`${api}/x`, { method: 'POST', body: 'z'.repeat(50_000) });
      assert.equal(await post.text(), 'POST 50000');
      const body = new Blob(['ab', 'cd']).stream();
      const put = await fetch(`${api}/x`, { method: 'PUT', body, duplex: 'half' } as RequestInit);
      assert.equal(await put.text(), 'PUT 4');
    });

    test('nginx as upstream', missing('nginx', nginx), async () => {
      const upstream = await startNginx(`keepalive_requests 3;
        location / { return 200 "$request_method $http_content_length"; }
        location /missing { return 204; }
        location /proxied {
          proxy_http_version 1.1;
          proxy_pass http://127.0.0.1:${(server.address() as AddressInfo).port};
        }`);
      const api = await publish(app, openApi({ url: upstream }));
      // Every third response closes its connection.
      for (let i = 0; i < 10; i++) assert.equal(await (await fetch(`${api}/x`)).text(), 'GET ');
      assert.equal((await fetch(`${api}/missing`)).status, 204);
      const post = await fetch(`${api}/x`, { method: 'POST', body: 'abc' });
      assert.equal(await post.text(), 'POST 3');
      assert.equal((await (await fetch(`${api}/proxied/large`)).text()).length, large.length);
      assert.equal(await (await fetch(`${api}/proxied/chunks`)).text(), 'one two three');
    });

    test('nginx as downstream proxy', missing('nginx', nginx), async () => {
      const front = await startNginx(`client_max_body_size 10m;
        location / { proxy_pass ${url}/; proxy_http_version 1.1; proxy_set_header Connection "";
          proxy_request_buffering off; }
        location /old/ { proxy_pass ${url}/; proxy_http_version 1.0; }`);
      await checkWithFetch(front);
      assert.equal(await (await fetch(`${front}/old/a`)).text(), 'GET 0 ');
      assert.equal((await (await fetch(`${front}/old/large`)).text()).length, large.length);
    });
  });

const goProgram = `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

func check(ok bool, what string) {
	if !ok {
		fmt.Println("failed:", what)
		os.Exit(1)
	}
}

func ask(method, url string, body io.Reader) (int, string, *http.Response) {
	request, _ := http.NewRequest(method, url, body)
	request.Header.Set("TE", "trailers")
	response, err := http.DefaultClient.Do(request)
	check(err == nil, fmt.Sprint(err))
	bytes, err := io.ReadAll(response.Body)
	check(err == nil, fmt.Sprint(err))
	return response.StatusCode, string(bytes), response
}

func main() {
	if os.Args[1] == "server" {
		http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			bytes, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %d", r.Method, len(bytes))
		})
		http.ListenAndServe(os.Args[2], nil)
		return
	}
	url := os.Args[2]
	for i := 0; i < 3; i++ {
		status, text, _ := ask("GET", url+"/a", nil)
		check(status == 200 && text == "GET 0 ", text)
	}
	_, text, _ := ask("POST", url+"/a", strings.NewReader("hello"))
	check(text == "POST 5 hello", text)
	_, text, _ = ask("PUT", url+"/a", io.MultiReader(strings.NewReader("ab"), strings.NewReader("cd")))
	check(text == "PUT 4 abcd", text)
	status, _, _ := ask("GET", url+"/none", nil)
	check(status == 204, "204")
	_, text, response := ask("GET", url+"/chunks", nil)
	check(text == "one two three" && response.Trailer.Get("X-Sum") == "3", text)
	_, text, _ = ask("GET", url+"/large", nil)
	check(len(text) == 320000, "large")
	status, _, _ = ask("HEAD", url+"/a", nil)
	check(status == 200, "HEAD")
	fmt.Println("ok")
}
`;
