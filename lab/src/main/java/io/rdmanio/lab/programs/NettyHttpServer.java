package io.rdmanio.lab.programs;

import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_LENGTH;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The file server on Netty's NIO transport: POST stores a file and answers with its SHA-256, GET sends a small one from
 * memory and a large one as a file region. It stops on GET /stop, or when its standard input ends.
 */
public final class NettyHttpServer {
    private static final int MAX_BODY_BYTES = 1 << 30;
    private static final int REGION_BYTES = 1 << 20;

    private NettyHttpServer() {}

    @SuppressWarnings("deprecation") // of NioEventLoopGroup, which Netty 4.1 has as well
    public static void main(String[] args) throws Exception {
        Options options = new Options(args, 3, "NettyHttpServer HOST PORT DIRECTORY");
        Path directory = Path.of(options.operand(2));
        EventLoopGroup group = new NioEventLoopGroup(2);
        try {
            Channel server = new ServerBootstrap()
                    .group(group)
                    .channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            channel.pipeline()
                                    .addLast(new HttpServerCodec())
                                    .addLast(wholeBodies())
                                    .addLast(new FileHandler(directory));
                        }
                    })
                    .bind(options.address(0))
                    .sync()
                    .channel();
            StopOnInputEnd.run(() -> server.close().sync());
            System.out.println("READY " + ((java.net.InetSocketAddress) server.localAddress()).getPort());
            server.closeFuture().sync();
        } finally {
            group.shutdownGracefully(0, 5, java.util.concurrent.TimeUnit.SECONDS)
                    .sync();
        }
    }

    /** Makes one message of a body's parts, however many: by default Netty copies all there is whenever 1,024 more have come. */
    static HttpObjectAggregator wholeBodies() {
        HttpObjectAggregator aggregator = new HttpObjectAggregator(MAX_BODY_BYTES);
        aggregator.setMaxCumulationBufferComponents(MAX_BODY_BYTES);
        return aggregator;
    }

    /** One connection's requests. */
    private static final class FileHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final Path directory;

        FileHandler(Path directory) {
            this.directory = directory;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws IOException {
            String name = Path.of(request.uri()).getFileName().toString();
            if (request.method().equals(HttpMethod.POST)) {
                byte[] body = new byte[request.content().readableBytes()];
                request.content().readBytes(body);
                Files.write(directory.resolve(name), body);
                answer(context, Unpooled.copiedBuffer(Sha256.of(body), StandardCharsets.US_ASCII));
            } else if (name.equals("stop")) {
                answer(context, Unpooled.EMPTY_BUFFER);
                var _ = context.channel().parent().close();
            } else {
                send(context, directory.resolve(name));
            }
        }

        private static void send(ChannelHandlerContext context, Path file) throws IOException {
            long size = Files.size(file);
            if (size < REGION_BYTES) {
                answer(context, Unpooled.wrappedBuffer(Files.readAllBytes(file)));
                return;
            }
            HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
            head.headers().set(CONTENT_LENGTH, size);
            var _ = context.write(head);
            var _ = context.write(new DefaultFileRegion(FileChannel.open(file, StandardOpenOption.READ), 0, size))
                    .addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
            var _ = context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        }

        private static void answer(ChannelHandlerContext context, ByteBuf body) {
            HttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
            response.headers().set(CONTENT_LENGTH, body.readableBytes());
            var _ = context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            System.out.println("LOST " + cause);
            var _ = context.close();
        }
    }
}
