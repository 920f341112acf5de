import { createQrCode } from './qr-code.ts';

/** Light modules around a symbol (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4;

/** QR code of a text as the path of an SVG image, one unit for each module; undefined for a text that is too long. */
export function drawQrPath(text: string): { readonly size: number; readonly path: string } | undefined {
  const rows = createQrCode(text);
  if (!rows) return undefined;
  const path = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + quietZone} ${y + quietZone}h1v1h-1z`] : [])),
  );
  return { size: rows.length + 2 * quietZone, path: path.join('') };
}
