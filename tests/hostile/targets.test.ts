import { type Case, get, holds, onGround } from './ground.ts';

const refuse = (name: string, target: string, refused: number | readonly number[] = 400): Case => ({
  name: `refused: ${name}`,
  bytes: get(target),
  refused,
});
const reach = (target: string, url: string): Case => ({
  name: `${target} reaches ${url}`,
  bytes: get(target),
  reaches: [{ url }],
});

const refusedTargets: readonly Case[] = [
  refuse('a zero byte', '/h/a%00b'),
  refuse('a line break', '/h/a%0ab'),
  refuse('a return', '/h/a%0Db'),
  refuse('a tab', '/h/a%09'),
  refuse('a delete', '/h/a%7f'),
  refuse('an escaped slash', '/h/a%2fb'),
  refuse('an escaped slash in upper case', '/h/a%2Fb'),
  refuse('an escaped backslash', '/h/a%5cb'),
  refuse('a backslash', '/h/a\\b'),
  refuse('parent segments with backslashes', '/h/..\\..\\etc'),
  refuse('an overlong slash', '/h/a%c0%afb'),
  refuse('a longer overlong slash', '/h/a%e0%80%afb'),
  refuse('an overlong full stop', '/h/%c0%ae%c0%ae/x'),
  refuse('a truncated UTF-8 sequence', '/h/%c3'),
  refuse('an encoded surrogate', '/h/%ed%a0%80'),
  refuse('an invalid UTF-8 start byte', '/h/%ff'),
  refuse('a truncated escape', '/h/a%'),
  refuse('an escape of one digit', '/h/a%4'),
  refuse('an invalid escape', '/h/a%zz'),
  refuse('a %u escape', '/h/%u002e%u002e/x'),
  refuse('dots that are escaped twice', '/h/%252e%252e/x'),
  refuse('a slash that is escaped twice', '/h/a%252fb'),
  refuse('a fragment', '/h/a#b'),
  refuse('a fragment after a query', '/h/a?b#c'),
  refuse('dots behind a parameter', '/h/..;/x'),
  refuse('dots behind a parameter with a value', '/h/a/..;v=1/x'),
  refuse('escaped dots behind a parameter', '/h/%2e%2e;/x'),
  refuse('dots behind an escaped parameter', '/h/..%3b/x'),
  refuse('no slash at the beginning', 'h'),
  refuse('an asterisk', '*'),
  refuse('an address of another scheme', 'ftp://x/h'),
  refuse('a file', 'file:///etc/passwd'),
  refuse('a scheme without a host', 'http:///h'),
  refuse('an address with a user', 'http://user@x/h'),
  refuse('an address of another host', 'http://evil.example/h'),
  refuse('an address of another port', 'http://x:81/h'),
  refuse('a parent segment out of the listen path, unrouted', '/h/../secret', 404),
  refuse('an escaped parent segment out of the listen path, unrouted', '/h/%2e%2e/secret', 404),
  refuse('parent segments beyond the root, unrouted', '/h/../../../etc/passwd', 404),
  refuse('a listen path with dots behind it', '/h../secret', 404),
  refuse('a listen path with a parameter behind it', '/h;x=1/secret', 404),
  refuse('an upper-case listen path', '/H/x', 404),
];

const reached: readonly Case[] = [
  reach('/h', '/base'),
  reach('/h/', '/base'),
  reach('//h//a', '/base/a'),
  reach('/h/./a', '/base/a'),
  reach('/h/a/.', '/base/a/'),
  reach('/h/a/../b', '/base/b'),
  reach('/h/a/%2e%2e/b', '/base/b'),
  reach('/h/a/%2E./b', '/base/b'),
  reach('/x/../h/a', '/base/a'),
  reach('/x/%2e%2e/h/a', '/base/a'),
  reach('/../../h/a', '/base/a'),
  reach('/%68/a', '/base/a'),
  reach('/h/%61%62', '/base/ab'),
  reach('/h/%7Euser', '/base/~user'),
  reach('/h/a%20b', '/base/a%20b'),
  reach('/h/%c3%a9', '/base/%C3%A9'),
  reach('/h/a%25b', '/base/a%25b'),
  reach('/h/a;b=c/d', '/base/a;b=c/d'),
  reach('/h/a%3bb', '/base/a%3Bb'),
  reach('/h/a%40b', '/base/a%40b'),
  reach('/h/...', '/base/...'),
  reach('/h/..a', '/base/..a'),
  reach('/h/a%3f', '/base/a%3F'),
  reach('/h/%23', '/base/%23'),
  reach('/h?a=/../../x', '/base?a=/../../x'),
  reach('/h/a?b=%2f%00%0d%0a', '/base/a?b=%2f%00%0d%0a'),
  reach('/h/a?b?c=d', '/base/a?b?c=d'),
  reach('/h/a?', '/base/a'),
  reach('/h?&&=', '/base?&&='),
  reach('http://x/h/a', '/base/a'),
  reach('HTTP://X/h/a', '/base/a'),
  reach('http://x/../h/a', '/base/a'),
];

onGround('Request target normalization', ground => {
  for (const table of [refusedTargets, reached]) holds(table, ground);
});

onGround(
  'Request targets with gateway.encoded_slashes=keep',
  ground => {
    holds(
      [
        reach('/h/a%2fb', '/base/a%2Fb'),
        reach('/h/a%5cb', '/base/a%5Cb'),
        refuse('dots behind an escaped slash', '/h/..%2fsecret'),
        refuse('dots between escaped slashes', '/h/a%2f..%2f..%2fsecret'),
        refuse('dots after an escaped slash', '/h/a%2f..'),
        refuse('dots behind an escaped backslash', '/h/..%5csecret'),
        refuse('escaped dots behind an escaped slash', '/h/%2e%2e%2fsecret'),
      ],
      ground,
    );
  },
  { 'gateway.encoded_slashes': 'keep' },
);

onGround(
  'Request targets with gateway.listen_path_match=prefix',
  ground => {
    holds(
      [
        reach('/hello', '/base/ello'),
        reach('/h../secret', '/base/secret'),
        reach('/h..', '/base'),
        reach('/h./x', '/base/x'),
        reach('/h...', '/base/...'),
      ],
      ground,
    );
  },
  { 'gateway.listen_path_match': 'prefix', 'gateway.health_name': 'status' },
);
