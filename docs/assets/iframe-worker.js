// Browsers allow no worker on a page that was opened as a file. There, the script of the search runs
// in a hidden frame instead. (The theme's plugin "offline" would load such a script from another host.)
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement('iframe');
      frame.hidden = true;
      document.body.append(frame);
      this.ready = new Promise((resolve) => {
        const script = frame.contentDocument.createElement('script');
        script.onload = resolve;
        script.src = url;
        frame.contentDocument.body.append(script);
      });
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', { data }));
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent('message', { data })));
    }
  };
}
