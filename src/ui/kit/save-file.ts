/** Saves a file of the server, or a blob, under a name: the click of a link with `download`. */
export function saveAddress(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

/** Saves a value as a JSON file. */
export function saveJson(value: unknown, name: string): void {
  const address = URL.createObjectURL(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: 'application/json' }));
  saveAddress(address, name);
  // The browser has taken the blob with the click; the address holds its memory until it is revoked.
  setTimeout(() => URL.revokeObjectURL(address));
}
