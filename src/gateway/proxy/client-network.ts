/** Client network: an IPv4 address alone, an IPv6 address with its /64, all of which one host may have (RFC 6177). */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const [before = '', after] = address.split('%', 1)[0]!.split('::');
  const left = groupsOf(before);
  const right = after === undefined ? [] : groupsOf(after);
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

const groupsOf = (text: string): string[] =>
  text === '' ? [] : text.split(':').map(group => group.replace(/^0+(?=.)/, '').toLowerCase());
