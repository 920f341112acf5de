/** Code of a receiver that checks the signature of webhook deliveries, of APIs and of the portal. */
export const verificationSnippet = `import { createHmac, timingSafeEqual } from 'node:crypto';

// header: X-Gw-Signature, body: the bytes of the request
export function isSigned(header, body, secret) {
  const parts = header.split(',').map(part => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  const mine = createHmac('sha256', secret).update(\`\${time}.\${body}\`).digest();
  return parts.some(([name, hex]) => {
    const theirs = Buffer.from(hex ?? '', 'hex');
    return name === 'v1' && theirs.length === mine.length && timingSafeEqual(theirs, mine);
  });
}`;
