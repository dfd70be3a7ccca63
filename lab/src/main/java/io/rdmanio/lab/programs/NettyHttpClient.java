package io.rdmanio.lab.programs;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The workload of small requests and one large body on Netty's NIO transport, over one kept-alive connection. */
public final class NettyHttpClient {
    private static final int PATIENCE_SECONDS = 120;

    private NettyHttpClient() {}

    @SuppressWarnings("deprecation") // of NioEventLoopGroup, which Netty 4.1 has as well
    public static void main(String[] args) throws Exception {
        Options options = new Options(args, 2, "NettyHttpClient HOST PORT " + HttpWorkload.USAGE, HttpWorkload.OPTIONS);
        EventLoopGroup group = new NioEventLoopGroup(1);
        try {
            ResponseHandler responses = new ResponseHandler();
            Channel channel = new Bootstrap()
                    .group(group)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline()
                                    .addLast(new HttpClientCodec())
                                    .addLast(NettyHttpServer.wholeBodies())
                                    .addLast(responses);
                        }
                    })
                    .connect(options.address(0))
                    .sync()
                    .channel();
            new HttpWorkload(new ChannelExchange(channel, responses, options.operand(0)), options).run();
            channel.close().sync();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private record ChannelExchange(Channel channel, ResponseHandler responses, String host)
            implements HttpWorkload.Exchange {
        @Override
        public String post(String name, byte[] body) throws Exception {
            return new String(exchange(HttpMethod.POST, name, body), StandardCharsets.US_ASCII);
        }

        @Override
        public byte[] get(String name) throws Exception {
            return exchange(HttpMethod.GET, name, new byte[0]);
        }

        private byte[] exchange(HttpMethod method, String name, byte[] body)
                throws IOException, InterruptedException, TimeoutException {
            ByteBuf content = Unpooled.wrappedBuffer(body);
            FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, "/" + name, content);
            request.headers().set(HttpHeaderNames.HOST, host).set(HttpHeaderNames.CONTENT_LENGTH, body.length);
            CompletableFuture<byte[]> response = responses.expect();
            var _ = channel.writeAndFlush(request).addListener(written -> {
                if (!written.isSuccess()) {
                    response.completeExceptionally(written.cause());
                }
            });
            try {
                return response.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new IOException(method + " " + name + " failed", e.getCause());
            }
        }
    }

    /** Completes the one exchange under way. */
    private static final class ResponseHandler extends SimpleChannelInboundHandler<FullHttpResponse> {
        private volatile CompletableFuture<byte[]> expected = new CompletableFuture<>();

        CompletableFuture<byte[]> expect() {
            CompletableFuture<byte[]> fresh = new CompletableFuture<>();
            expected = fresh;
            return fresh;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            if (response.status().code() / 100 != 2) {
                expected.completeExceptionally(new IOException("status " + response.status()));
                return;
            }
            byte[] body = new byte[response.content().readableBytes()];
            response.content().readBytes(body);
            expected.complete(body);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            expected.completeExceptionally(new IOException("the server closed the connection"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            expected.completeExceptionally(cause);
            var _ = context.close();
        }
    }
}
